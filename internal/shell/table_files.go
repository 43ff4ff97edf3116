package shell

import "github.com/lictor-policy/lictor/internal/model"

// access letters of the file table.
type access uint8

const (
	reads access = iota
	writes
	deletes
	lists
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
	{"cp gcp install ditto", fileSpec{optSpec: optSpec{arg: "tSmog", long: "target-directory suffix mode owner group"}, operands: lastFile, access: writes, write: "t target-directory"}},
	{"ln gln link", fileSpec{optSpec: optSpec{arg: "tS", long: "target-directory suffix"}, operands: lastFile, access: writes, write: "t target-directory"}},
	{"scp rsync", fileSpec{optSpec: optSpec{arg: "efBTMSFJPcilo", long: "rsh rsync-path exclude exclude-from include filter files-from log-file backup-dir"}, operands: lastFile, access: writes, write: "log-file backup-dir", read: "i"}},
	{"dd", fileSpec{operands: prefixed}},
	{"sed gsed", fileSpec{optSpec: optSpec{arg: "efl", maybe: "i", long: "expression file line-length"}, operands: allButFirst, access: reads, given: "e f expression file", read: "f file", when: "i in-place"}},
	{"perl ruby", fileSpec{optSpec: optSpec{arg: "eEIMm", maybe: "i"}, operands: allButFirst, access: reads, given: "e E", when: "i"}},
	{"chmod chown chgrp chattr setfacl", fileSpec{operands: allButFirst, access: writes}},
	{"patch", fileSpec{optSpec: optSpec{arg: "pdioBDFgrVYzx", long: "directory input output"}, operands: allFiles, access: writes, write: "o output", read: "i input", dir: "d directory"}},
	{"cat tac rev zcat bzcat xzcat stat file md5sum sha1sum sha256sum sha512sum shasum cksum sum b2sum comm readlink realpath less more most zless zmore", fileSpec{optSpec: optSpec{long: "format printf"}, operands: allFiles, access: reads}},
	{"head tail", fileSpec{optSpec: optSpec{arg: "nc", long: "lines bytes pid sleep-interval"}, operands: allFiles, access: reads}},
	{"wc", fileSpec{optSpec: optSpec{long: "files0-from total"}, operands: allFiles, access: reads, read: "files0-from"}},
	{"nl", fileSpec{optSpec: optSpec{arg: "bdfhilnsvw"}, operands: allFiles, access: reads}},
	{"od", fileSpec{optSpec: optSpec{arg: "AjNSt"}, operands: allFiles, access: reads}},
	{"xxd", fileSpec{optSpec: optSpec{arg: "cglos"}, operands: lastFile, access: writes}},
	{"hexdump hd", fileSpec{optSpec: optSpec{arg: "efns"}, operands: allFiles, access: reads, read: "f"}},
	{"strings", fileSpec{optSpec: optSpec{arg: "neoT"}, operands: allFiles, access: reads}},
	{"base32 fold", fileSpec{optSpec: optSpec{arg: "w", long: "wrap width"}, operands: allFiles, access: reads}},
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
	{"sort gsort", fileSpec{optSpec: optSpec{arg: "kotST", long: "key output field-separator buffer-size temporary-directory compress-program parallel"}, operands: allFiles, access: reads, write: "o output"}},
	{"grep egrep fgrep zgrep", fileSpec{optSpec: optSpec{arg: "efmABCdD", long: "regexp file max-count after-context before-context context include exclude exclude-dir exclude-from label binary-files devices directories"}, operands: allButFirst, access: reads, given: "e f regexp file", read: "f file exclude-from"}},
	{"rg ag ack", fileSpec{optSpec: optSpec{arg: "efmABCgtTdEMjr", long: "regexp file max-count after-context before-context context glob iglob type type-not color encoding replace threads max-depth ignore ignore-file"}, operands: allButFirst, access: reads, given: "e f regexp file files", read: "f file ignore-file"}},
	{"awk gawk mawk nawk", fileSpec{optSpec: optSpec{arg: "Ffv", long: "file field-separator assign"}, operands: allButFirst, access: reads, given: "f file", read: "f file"}},
	{"jq yq", fileSpec{optSpec: optSpec{arg: "fL", long: "from-file"}, operands: allButFirst, access: reads, given: "f from-file", read: "f from-file"}},
	{"diff cmp sdiff vimdiff colordiff diff3", fileSpec{optSpec: optSpec{arg: "xUCWIFDSL", long: "exclude label unified context"}, operands: allFiles, access: reads}},
	{"source .", fileSpec{operands: allFiles, access: reads}},
	{"vi vim nvim nano emacs ed ex micro view code", fileSpec{optSpec: optSpec{arg: "cuUTpsSwWit", long: "cmd"}, operands: allFiles, access: writes}},
	{"curl", fileSpec{optSpec: optSpec{arg: "AbcCdDeEFhHKmoPQrTuUwxXyYzt", long: curlArgs}, write: "o output D dump-header c cookie-jar trace trace-ascii stderr etag-save libcurl", read: "K config T upload-file E cert key cacert netrc-file b cookie", dir: "output-dir", operands: noOperands}},
	{"wget", fileSpec{optSpec: optSpec{arg: "OoaePUAiRDItwTlQB", long: "output-document output-file append-output directory-prefix input-file post-file body-file load-cookies save-cookies certificate private-key user-agent header execute"}, write: "O output-document o output-file a append-output P directory-prefix save-cookies", read: "i input-file post-file body-file load-cookies certificate private-key"}},
	{"tar gtar bsdtar", fileSpec{optSpec: optSpec{arg: "bCfFgHIKLNTVX", long: "directory file exclude exclude-from files-from use-compress-program to-command checkpoint-action"}, read: "f file T files-from X exclude-from", dir: "C directory", operands: allFiles, access: reads}},
	{"unzip", fileSpec{optSpec: optSpec{arg: "dxP"}, write: "d", operands: allFiles, access: reads}},
	{"zip", fileSpec{optSpec: optSpec{arg: "btnxi"}, operands: allFiles, access: reads}},
	{"gzip gunzip bzip2 bunzip2 xz unxz zstd lz4 compress", fileSpec{optSpec: optSpec{arg: "SbT", long: "suffix threads"}, operands: allFiles, access: writes}},
	{"find gfind", fileSpec{}},
	{"ls dir tree du gls exa eza", fileSpec{optSpec: optSpec{arg: "IwTdLPHoB", long: "ignore hide block-size max-depth exclude"}, operands: allFiles, access: lists}},
	{"openssl", fileSpec{optSpec: optSpec{single: true, long: "in out key cert keyout CAfile passin passout inkey certfile config"}, write: "out keyout", read: "in key cert CAfile inkey certfile config"}},
	{"gpg gpg2", fileSpec{optSpec: optSpec{arg: "oru", long: "output recipient local-user homedir"}, write: "o output", operands: allFiles, access: reads}},
	{"ssh-keygen", fileSpec{optSpec: optSpec{arg: "fbtCNPmYnIsVz"}, write: "f"}},
	{"mount umount losetup mkfs fdisk parted wipefs swapon", fileSpec{optSpec: optSpec{arg: "otLUO"}, operands: allFiles, access: writes}},
	{"split gsplit", fileSpec{optSpec: optSpec{arg: "abCln", long: "filter"}, operands: lastFile, access: writes}},
	{"go", fileSpec{optSpec: optSpec{single: true, long: "o coverprofile cpuprofile memprofile blockprofile mutexprofile trace outputdir overlay modfile pgo C"}, write: "o coverprofile cpuprofile memprofile blockprofile mutexprofile trace outputdir", read: "overlay modfile pgo"}},
	{"gofmt goimports gofumpt", fileSpec{optSpec: optSpec{single: true, long: "r cpuprofile local"}, operands: allFiles, access: reads, when: "w", write: "cpuprofile"}},
	{"gcc g++ cc c++ clang clang++ ld rustc tsc esbuild javac ghc ocamlopt", fileSpec{optSpec: optSpec{arg: "oIlLDd", long: "output outfile outdir out-dir"}, operands: allFiles, access: reads, write: "o d output outfile outdir out-dir"}},
	{"docker podman nerdctl", fileSpec{optSpec: optSpec{arg: "evpw", long: "env-file env volume mount label-file cidfile publish name network"}, read: "env-file label-file", write: "cidfile"}},
	{"git", fileSpec{}},
}

const curlArgs = "output output-dir config data data-ascii data-binary data-raw data-urlencode header request user user-agent cookie cookie-jar referer proxy form form-string upload-file max-time connect-timeout retry retry-delay write-out dump-header cert key cacert capath resolve connect-to interface dns-servers range url url-query json proxy-user socks5 socks5-hostname socks4 preproxy netrc-file trace trace-ascii stderr etag-save etag-compare libcurl limit-rate doh-url unix-socket abstract-unix-socket"
