package shell

import "github.com/lictor-policy/lictor/internal/model"

// access letters of the file table.
type access uint8

const (
	reads access = iota
	writes
	deletes
	lists
	// edits: read, and written.
	edits
)

var accesses = [...]model.Access{reads: model.AccessRead, writes: model.AccessWrite, deletes: model.AccessDelete, lists: model.AccessList}

// operands says which operands of a program are files.
type operands uint8

const (
	noOperands operands = iota
	// allFiles: every operand.
	allFiles
	// lastFile: the last one is written, the others read (cp).
	lastFile
	// allButFirst: the first operand is a pattern or mode.
	allButFirst
	// prefixed: NAME=file operands only (dd).
	prefixed
	// firstRead: the first one only (sqlite3).
	firstRead
	// firstFile: the first one is written, the others read (zip).
	firstFile
	// scriptFile: the first one is a script that is read, the others are its
	// arguments; with an option of when (python -m), all are read.
	scriptFile
)

// fileSpec says which words of a program are files.
type fileSpec struct {
	optSpec
	operands operands
	access   access
	// write, read and dir are the options whose argument is a file that is
	// written, read, or a folder.
	write, read, dir string
	// given are options that take the place of the first operand (grep -e).
	given string
	// when: the operands are written only with one of these options (sed -i).
	when string
	// source is the access to the operands before the last.
	source access
	// enter are the options whose argument is the folder to start in, pairs those
	// whose argument holds files among other things (-v HOST:PLACE), many those that
	// take all that follows up to the next option (zip -x).
	enter, pairs, many string
	// subs: operands are files only behind one of these subcommands.
	subs string
	// made are options of read whose file is written with one of when (tar -cf).
	made string
}

// fileTable has one line per kind of program with file operands.
var fileTable = []struct {
	names string
	fileSpec
}{
	{"tee sponge", fileSpec{operands: allFiles, access: writes}},
	{"touch gtouch", fileSpec{optSpec: optSpec{arg: "dtr", long: "date reference"}, operands: allFiles, access: writes, read: "r reference"}},
	{"truncate", fileSpec{optSpec: optSpec{arg: "sr", long: "size reference"}, operands: allFiles, access: writes}},
	{"mkdir mkfifo mknod", fileSpec{optSpec: optSpec{arg: "mZ", long: "mode"}, operands: allFiles, access: writes}},
	{"rm grm unlink rmdir shred trash", fileSpec{operands: allFiles, access: deletes}},
	{"mv gmv", fileSpec{optSpec: optSpec{arg: "tS", long: "target-directory suffix"}, operands: lastFile, access: writes, source: deletes, write: "t target-directory"}},
	{"cp gcp ditto", fileSpec{optSpec: optSpec{arg: "tSmog", long: "target-directory suffix mode owner group"}, operands: lastFile, access: writes, write: "t target-directory"}},
	{"install ginstall", fileSpec{optSpec: optSpec{arg: "tSmog", long: "target-directory suffix mode owner group"}, operands: lastFile, access: writes, write: "t target-directory", when: "d directory"}},
	{"ln gln link", fileSpec{optSpec: optSpec{arg: "tS", long: "target-directory suffix"}, operands: lastFile, access: writes, write: "t target-directory", when: "s symbolic"}},
	{"scp rsync", fileSpec{optSpec: optSpec{arg: "efBTMSFJPcilo", long: "rsh rsync-path exclude exclude-from include include-from filter files-from log-file backup-dir password-file link-dest compare-dest copy-dest"}, operands: lastFile, access: writes, write: "log-file backup-dir", read: "i F exclude-from include-from files-from password-file"}},
	{"dd", fileSpec{operands: prefixed}},
	{"sed gsed", fileSpec{optSpec: optSpec{arg: "efl", maybe: "i", long: "expression file line-length"}, operands: allButFirst, access: reads, given: "e f expression file", read: "f file", when: "i in-place"}},
	{"perl ruby", fileSpec{optSpec: optSpec{arg: "eEIMm", maybe: "i"}, operands: allFiles, access: reads, given: "e E", when: "i"}},
	{"python python3 python2 pypy", fileSpec{optSpec: optSpec{arg: "cmWXQ", stop: true}, operands: scriptFile, access: reads, given: "c", when: "m"}},
	{"node nodejs bun", fileSpec{optSpec: optSpec{arg: "repC", long: "require import loader env-file env-file-if-exists eval print", stop: true}, operands: scriptFile, access: reads, given: "e p eval print", read: "r require import env-file env-file-if-exists"}},
	{"php", fileSpec{optSpec: optSpec{arg: "rBREdcfFSt", stop: true}, operands: scriptFile, access: reads, given: "r B R E", read: "f F c"}},
	{"lua luajit Rscript julia groovy scala tclsh osascript", fileSpec{optSpec: optSpec{arg: "el", stop: true}, operands: scriptFile, access: reads, given: "e"}},
	{"sh bash zsh dash ksh mksh ash fish", fileSpec{optSpec: optSpec{arg: "oO", long: "rcfile init-file", stop: true}, operands: scriptFile, access: reads, given: "c", read: "rcfile init-file"}},
	{"chmod chown chgrp chattr setfacl", fileSpec{operands: allButFirst, access: writes}},
	{"patch", fileSpec{optSpec: optSpec{arg: "pdioBDFgrVYzx", long: "directory input output"}, operands: allFiles, access: writes, write: "o output", read: "i input", dir: "d directory"}},
	{"cat tac rev tsort xmllint xsltproc tidy m4 delta icdiff subl gxmllint b3sum zcat bzcat xzcat stat file md5sum sha1sum sha256sum sha512sum shasum cksum sum b2sum comm readlink realpath less more most zless zmore view", fileSpec{optSpec: optSpec{long: "format printf"}, operands: allFiles, access: reads}},
	{"head tail", fileSpec{optSpec: optSpec{arg: "nc", long: "lines bytes pid sleep-interval"}, operands: allFiles, access: reads}},
	{"wc", fileSpec{optSpec: optSpec{long: "files0-from total"}, operands: allFiles, access: reads, read: "files0-from"}},
	{"nl", fileSpec{optSpec: optSpec{arg: "bdfhilnsvw"}, operands: allFiles, access: reads}},
	{"od", fileSpec{optSpec: optSpec{arg: "AjNSt"}, operands: allFiles, access: reads}},
	{"xxd", fileSpec{optSpec: optSpec{arg: "cglos"}, operands: lastFile, access: writes}},
	{"shuf", fileSpec{optSpec: optSpec{arg: "no", long: "head-count output random-source input-range"}, operands: allFiles, access: reads, write: "o output"}},
	{"iconv", fileSpec{optSpec: optSpec{arg: "fto", long: "from-code to-code output"}, operands: allFiles, access: reads, write: "o output"}},
	{"dos2unix unix2dos recode", fileSpec{operands: allFiles, access: writes}},
	{"hexdump hd", fileSpec{optSpec: optSpec{arg: "efns"}, operands: allFiles, access: reads, read: "f"}},
	{"strings", fileSpec{optSpec: optSpec{arg: "neoT"}, operands: allFiles, access: reads}},
	{"base32 basenc fold", fileSpec{optSpec: optSpec{arg: "w", long: "wrap width"}, operands: allFiles, access: reads}},
	{"fmt", fileSpec{optSpec: optSpec{arg: "wpg"}, operands: allFiles, access: reads}},
	{"expand unexpand", fileSpec{optSpec: optSpec{arg: "t"}, operands: allFiles, access: reads}},
	{"pr", fileSpec{optSpec: optSpec{arg: "DhlNoWw"}, operands: allFiles, access: reads}},
	{"uniq", fileSpec{optSpec: optSpec{arg: "fsw"}, operands: lastFile, access: writes}},
	{"cut", fileSpec{optSpec: optSpec{arg: "bcdf", long: "bytes characters delimiter fields output-delimiter"}, operands: allFiles, access: reads}},
	{"paste", fileSpec{optSpec: optSpec{arg: "d", long: "delimiters"}, operands: allFiles, access: reads}},
	{"column", fileSpec{optSpec: optSpec{arg: "CcHIlNnOoRrsTW"}, operands: allFiles, access: reads}},
	{"join", fileSpec{optSpec: optSpec{arg: "12aejotv"}, operands: allFiles, access: reads}},
	{"look bat batcat", fileSpec{optSpec: optSpec{arg: "HlmrT", long: "language highlight-line file-name theme style line-range"}, operands: allFiles, access: reads}},
	{"base64", fileSpec{optSpec: optSpec{arg: "wbio"}, operands: allFiles, access: reads, write: "o", read: "i"}},
	{"sort gsort", fileSpec{optSpec: optSpec{arg: "kotST", long: "key output field-separator buffer-size temporary-directory compress-program parallel files0-from random-source"}, operands: allFiles, access: reads, write: "o output", read: "files0-from"}},
	{"grep egrep fgrep zgrep", fileSpec{optSpec: optSpec{arg: "efmABCdD", long: "regexp file max-count after-context before-context context include exclude exclude-dir exclude-from label binary-files devices directories"}, operands: allButFirst, access: reads, given: "e f regexp file", read: "f file exclude-from include"}},
	{"rg ag ack", fileSpec{optSpec: optSpec{arg: "efmABCgtTdEMjr", long: "regexp file max-count after-context before-context context glob iglob type type-not color encoding replace threads max-depth ignore ignore-file"}, operands: allButFirst, access: reads, given: "e f regexp file files", read: "f file ignore-file"}},
	{"awk gawk mawk nawk", fileSpec{optSpec: optSpec{arg: "Ffv", long: "file field-separator assign"}, operands: allButFirst, access: reads, given: "f file", read: "f file"}},
	{"jq yq", fileSpec{optSpec: optSpec{arg: "fL", maybe: "i", long: "from-file"}, operands: allButFirst, access: reads, given: "f from-file", read: "f from-file", when: "i inplace"}},
	{"diff cmp sdiff vimdiff colordiff diff3", fileSpec{optSpec: optSpec{arg: "xUCWIFDSL", long: "exclude label unified context"}, operands: allFiles, access: reads}},
	{"source .", fileSpec{operands: allFiles, access: reads}},
	{"vi vim nvim nano emacs ed ex micro code", fileSpec{optSpec: optSpec{arg: "cuUTpsSwWit", long: "cmd"}, operands: allFiles, access: edits}},
	{"curl", fileSpec{optSpec: optSpec{arg: "AbcCdDeEFhHKmoPQrTuUwxXyYzt", long: curlArgs}, write: "o output D dump-header c cookie-jar trace trace-ascii stderr etag-save libcurl", read: "K config T upload-file E cert key cacert netrc-file b cookie", dir: "output-dir", operands: noOperands}},
	{"wget", fileSpec{optSpec: optSpec{arg: "OoaePUAiRDItwTlQB", long: "output-document output-file append-output directory-prefix input-file post-file body-file load-cookies save-cookies certificate private-key ca-certificate crl-file config user-agent header execute"}, write: "O output-document o output-file a append-output P directory-prefix save-cookies", read: "i input-file post-file body-file load-cookies certificate private-key ca-certificate crl-file config"}},
	{"tar gtar bsdtar", fileSpec{optSpec: optSpec{arg: "bCfFgHIKLNTVX", long: "directory file exclude exclude-from files-from use-compress-program to-command checkpoint-action"}, read: "f file T files-from X exclude-from", when: "c r u create append update", made: "f file", dir: "C directory", operands: allFiles, access: reads}},
	{"unzip", fileSpec{optSpec: optSpec{arg: "dxP"}, write: "d", operands: allFiles, access: reads}},
	{"zip", fileSpec{optSpec: optSpec{arg: "btn"}, operands: firstFile, access: reads, many: "x i exclude include"}},
	{"7z 7za 7zz", fileSpec{optSpec: optSpec{arg: "opxi"}, operands: allFiles, access: reads, write: "o"}},
	{"ar", fileSpec{operands: allFiles, access: reads}},
	{"gzip gunzip bzip2 bunzip2 xz unxz zstd lz4 compress", fileSpec{optSpec: optSpec{arg: "SbT", long: "suffix threads"}, operands: allFiles, access: edits}},
	{"find gfind", fileSpec{}},
	{"ls dir tree du gls exa eza", fileSpec{optSpec: optSpec{arg: "IwTdLPHoB", long: "ignore hide block-size max-depth exclude"}, operands: allFiles, access: lists}},
	{"openssl", fileSpec{optSpec: optSpec{single: true, long: "in out key cert keyout CA CAkey CAfile CApath passin passout inkey certfile config extfile signkey sign verify prverify signature kfile subj addext days connect servername name"}, operands: allFiles, access: reads, write: "out keyout", read: "in key cert CA CAkey CAfile inkey certfile config extfile signkey sign verify prverify signature kfile"}},
	{"gpg gpg2", fileSpec{optSpec: optSpec{arg: "oru", long: "output recipient local-user homedir"}, write: "o output", operands: allFiles, access: reads}},
	{"ssh autossh mosh", fileSpec{optSpec: optSpec{arg: "BbcDEeFIiJLlmOopQRSWw", stop: true}, read: "i F", pairs: "o"}},
	{"sftp", fileSpec{optSpec: optSpec{arg: "BbcDFiJloPRSsX", stop: true}, read: "i F b"}},
	{"ssh-copy-id", fileSpec{optSpec: optSpec{arg: "iFpot", stop: true}, read: "i F"}},
	{"ssh-add", fileSpec{optSpec: optSpec{arg: "tEeHhsST"}, operands: allFiles, access: reads}},
	{"make gmake", fileSpec{optSpec: optSpec{arg: "CfIloW", long: "directory file makefile include-dir old-file what-if new-file assume-new"}, read: "f file makefile", enter: "C directory"}},
	{"just task", fileSpec{optSpec: optSpec{arg: "fdt", long: "justfile taskfile working-directory dir"}, read: "f justfile t taskfile"}},
	{"ninja cmake", fileSpec{optSpec: optSpec{arg: "CfBSDGP"}, write: "B", read: "f S P", enter: "C"}},
	{"script", fileSpec{optSpec: optSpec{arg: "cIOBEmTo", maybe: "t", long: "command log-in log-out log-io echo log-timing logging-format output-limit"}, operands: allFiles, access: writes}},
	{"gcloud", fileSpec{subs: "storage", operands: lastFile, access: writes}},
	{"az", fileSpec{optSpec: optSpec{arg: "fnglco", long: "file name"}, read: "f file"}},
	{"ffmpeg ffprobe", fileSpec{optSpec: optSpec{single: true, long: "i"}, read: "i"}},
	{"convert", fileSpec{optSpec: optSpec{single: true}, operands: lastFile, access: writes}},
	{"csplit", fileSpec{optSpec: optSpec{arg: "fbn", long: "prefix suffix-format digits"}, operands: firstRead, access: reads, write: "f prefix"}},
	{"crontab", fileSpec{optSpec: optSpec{arg: "u"}, operands: allFiles, access: reads}},
	{"at batch", fileSpec{optSpec: optSpec{arg: "fq"}, read: "f"}},
	{"rename prename", fileSpec{operands: allButFirst, access: writes}},
	{"time gtime", fileSpec{optSpec: optSpec{arg: "fo", long: "format output", stop: true}, write: "o output"}},
	{"strace ltrace", fileSpec{optSpec: optSpec{arg: "abeEIoOpPsSuUX", long: "attach output trace signal", stop: true}, write: "o output"}},
	{"dotenv dotenvx env-cmd", fileSpec{optSpec: optSpec{arg: "efvpc"}, read: "e f"}},
	{"uv uvicorn flask deno poetry hypercorn", fileSpec{optSpec: optSpec{long: "env-file"}, read: "env-file"}},
	{"pip pip3 uvpip", fileSpec{optSpec: optSpec{arg: "rcet", long: "requirement constraint editable target"}, read: "r requirement c constraint", write: "t target"}},
	{"npm pnpm yarn", fileSpec{optSpec: optSpec{long: "userconfig globalconfig prefix dir cwd"}, read: "userconfig globalconfig"}},
	{"kubectl oc", fileSpec{optSpec: optSpec{arg: "fknlocp", long: "filename kustomize kubeconfig from-file from-env-file patch-file namespace selector output container patch context"}, read: "f filename k kustomize kubeconfig from-env-file patch-file", pairs: "from-file", subs: "cp", operands: lastFile, access: writes}},
	{"helm helmfile", fileSpec{optSpec: optSpec{arg: "fn", long: "values set-file kubeconfig file namespace"}, read: "f values kubeconfig file", pairs: "set-file"}},
	{"terraform tofu", fileSpec{optSpec: optSpec{single: true, long: "var var-file out state state-out backup backend-config target"}, read: "var-file state", write: "out state-out"}},
	{"ansible-playbook ansible", fileSpec{optSpec: optSpec{arg: "ietlumaBfT", long: "inventory extra-vars vault-password-file private-key key-file"}, operands: allFiles, access: reads, read: "i inventory vault-password-file private-key key-file"}},
	{"ansible-vault sops", fileSpec{operands: allFiles, access: reads}},
	{"psql", fileSpec{optSpec: optSpec{arg: "cdfFhLoPpRTUv", long: "command dbname file host log-file output port username set variable"}, read: "f file", write: "o output L log-file"}},
	{"pg_dump pg_dumpall mysqldump", fileSpec{optSpec: optSpec{arg: "fhpUrndtuP", long: "file result-file host port username dbname"}, write: "f file r result-file"}},
	{"sqlite3", fileSpec{operands: firstRead, access: reads}},
	{"gh", fileSpec{optSpec: optSpec{arg: "FfRtbHXqB", long: "body-file env-file input notes-file repo title body head base"}, read: "F body-file env-file input notes-file f", pairs: "F f", subs: "gist release", operands: allFiles, access: reads}},
	{"aws", fileSpec{optSpec: optSpec{long: "profile region exclude include acl endpoint-url query output"}, subs: "s3", operands: lastFile, access: writes}},
	{"gsutil", fileSpec{subs: "cp mv rsync", operands: lastFile, access: writes}},
	{"rclone", fileSpec{subs: "copy copyto move moveto sync", operands: lastFile, access: writes}},
	{"age rage", fileSpec{optSpec: optSpec{arg: "orRi", long: "output recipient recipients-file identity"}, operands: allFiles, access: reads, write: "o output", read: "i identity R recipients-file"}},
	{"pandoc", fileSpec{optSpec: optSpec{arg: "oftVMHABc", long: "output from to template metadata-file"}, operands: allFiles, access: reads, write: "o output"}},
	{"black rustfmt isort", fileSpec{optSpec: optSpec{arg: "lt", long: "config line-length edition"}, operands: allFiles, access: writes}},
	{"prettier ruff clang-format eslint autopep8", fileSpec{optSpec: optSpec{arg: "clt", long: "config style rule parser line-length select ignore"}, operands: allFiles, access: reads, when: "write w fix i in-place"}},
	{"gunicorn", fileSpec{optSpec: optSpec{arg: "cbwkt", long: "config bind"}, read: "c config"}},
	{"mail mutt mailx", fileSpec{optSpec: optSpec{arg: "asbcrFSiH"}, read: "a i H"}},
	{"xclip", fileSpec{operands: allFiles, access: reads}},
	{"logger", fileSpec{optSpec: optSpec{arg: "fptnPu", long: "file priority tag"}, read: "f file"}},
	{"tsc", fileSpec{optSpec: optSpec{arg: "p", long: "outDir outFile project"}, operands: allFiles, access: reads, write: "outDir outFile", read: "p project"}},
	{"cargo", fileSpec{optSpec: optSpec{arg: "pFZ", long: "target-dir manifest-path out-dir", stop: false}, write: "target-dir out-dir", read: "manifest-path"}},
	{"ssh-keygen", fileSpec{optSpec: optSpec{arg: "fbtCNPmYnIsVz"}, write: "f"}},
	{"mount umount losetup mkfs fdisk parted wipefs swapon", fileSpec{optSpec: optSpec{arg: "otLUO"}, operands: allFiles, access: writes}},
	{"split gsplit", fileSpec{optSpec: optSpec{arg: "abCln", long: "filter"}, operands: lastFile, access: writes}},
	{"go", fileSpec{optSpec: optSpec{single: true, long: "o coverprofile cpuprofile memprofile blockprofile mutexprofile trace outputdir overlay modfile pgo C"}, write: "o coverprofile cpuprofile memprofile blockprofile mutexprofile trace outputdir", read: "overlay modfile pgo"}},
	{"gofmt goimports gofumpt", fileSpec{optSpec: optSpec{single: true, long: "r cpuprofile local"}, operands: allFiles, access: reads, when: "w", write: "cpuprofile"}},
	{"gcc g++ cc c++ clang clang++ ld rustc esbuild javac ghc ocamlopt", fileSpec{optSpec: optSpec{arg: "oIlLDd", long: "output outfile outdir out-dir"}, operands: allFiles, access: reads, write: "o d output outfile outdir out-dir"}},
	{"docker podman nerdctl docker-compose", fileSpec{optSpec: optSpec{arg: "evpwfoum", long: "env-file env volume mount label-file cidfile publish name network file secret output input tag workdir user"}, read: "env-file label-file f file input", write: "cidfile o output", pairs: "v volume mount secret", subs: "cp", operands: lastFile, access: writes}},
	{"git", fileSpec{}},
}

const curlArgs = "output output-dir config data data-ascii data-binary data-raw data-urlencode header request user user-agent cookie cookie-jar referer proxy form form-string upload-file max-time connect-timeout retry retry-delay write-out dump-header cert key cacert capath resolve connect-to interface dns-servers range url url-query json proxy-user socks5 socks5-hostname socks4 preproxy netrc-file trace trace-ascii stderr etag-save etag-compare libcurl limit-rate doh-url unix-socket abstract-unix-socket"
