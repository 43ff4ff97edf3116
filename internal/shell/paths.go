package shell

import (
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"mvdan.cc/sh/v3/syntax"
)

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
	{"cat tac head tail less more most wc nl od xxd hexdump strings file stat md5sum sha1sum sha256sum sha512sum shasum cksum sum b2sum base32 rev fold fmt expand unexpand pr uniq cut paste column comm join look bat batcat zcat bzcat xzcat zless zmore readlink realpath", fileSpec{optSpec: optSpec{arg: "ncbsfdtwkjNSA", long: "lines bytes format delimiter fields"}, operands: allFiles, access: reads}},
	{"base64", fileSpec{optSpec: optSpec{arg: "wbio"}, operands: allFiles, access: reads, write: "o", read: "i"}},
	{"sort gsort", fileSpec{optSpec: optSpec{arg: "kotST", long: "key output field-separator buffer-size temporary-directory compress-program parallel"}, operands: allFiles, access: reads, write: "o output"}},
	{"grep egrep fgrep zgrep rg ag ack", fileSpec{optSpec: optSpec{arg: "efmABCgtTdDEMjr", long: "regexp file max-count after-context before-context context include exclude exclude-dir glob type type-not color label"}, operands: allButFirst, access: reads, given: "e f regexp file", read: "f file"}},
	{"awk gawk mawk nawk", fileSpec{optSpec: optSpec{arg: "Ffv", long: "file field-separator assign"}, operands: allButFirst, access: reads, given: "f file", read: "f file"}},
	{"jq yq", fileSpec{optSpec: optSpec{arg: "fL", long: "from-file"}, operands: allButFirst, access: reads, given: "f from-file", read: "f from-file"}},
	{"diff cmp sdiff vimdiff colordiff diff3", fileSpec{optSpec: optSpec{arg: "xUCWIFDSL", long: "exclude label unified context"}, operands: allFiles, access: reads}},
	{"source .", fileSpec{operands: allFiles, access: reads}},
	{"vi vim nvim nano emacs ed ex micro view code", fileSpec{optSpec: optSpec{arg: "cuUTpsSwWit", long: "cmd"}, operands: allFiles, access: writes}},
	{"curl", fileSpec{optSpec: optSpec{arg: "AbcCdDeEFhHKmoPQrTuUwxXyYzt", long: curlArgs}, write: "o output D dump-header c cookie-jar trace trace-ascii stderr etag-save libcurl", read: "K config T upload-file E cert key cacert netrc-file b cookie", dir: "output-dir", operands: noOperands}},
	{"wget", fileSpec{optSpec: optSpec{arg: "OoaePUAiRDItwTlQB", long: "output-document output-file append-output directory-prefix input-file post-file body-file load-cookies save-cookies certificate private-key user-agent header execute"}, write: "O output-document o output-file a append-output P directory-prefix save-cookies", read: "i input-file post-file body-file load-cookies certificate private-key"}},
	{"tar gtar bsdtar", fileSpec{optSpec: optSpec{arg: "bCfFgHIKLNTVX", long: "directory file exclude exclude-from files-from use-compress-program to-command checkpoint-action"}, read: "f file T files-from X exclude-from", dir: "C directory"}},
	{"unzip", fileSpec{optSpec: optSpec{arg: "dxP"}, write: "d", operands: allFiles, access: reads}},
	{"zip", fileSpec{optSpec: optSpec{arg: "btnxi"}, operands: allFiles, access: reads}},
	{"gzip gunzip bzip2 bunzip2 xz unxz zstd lz4 compress", fileSpec{optSpec: optSpec{arg: "SbT", long: "suffix threads"}, operands: allFiles, access: writes}},
	{"find gfind", fileSpec{}},
	{"ls dir tree du gls exa eza", fileSpec{optSpec: optSpec{arg: "IwTdLPHoB", long: "ignore hide block-size max-depth exclude"}, operands: allFiles, access: lists}},
	{"openssl", fileSpec{optSpec: optSpec{single: true, long: "in out key cert keyout CAfile passin passout inkey certfile config"}, write: "out keyout", read: "in key cert CAfile inkey certfile config"}},
	{"gpg gpg2", fileSpec{optSpec: optSpec{arg: "oru", long: "output recipient local-user homedir"}, write: "o output", operands: allFiles, access: reads}},
	{"ssh-keygen", fileSpec{optSpec: optSpec{arg: "fbtCNPmYnIsVz"}, write: "f"}},
	{"mount umount losetup mkfs fdisk parted wipefs swapon", fileSpec{optSpec: optSpec{arg: "otLUO"}, operands: allFiles, access: writes}},
	{"split gsplit", fileSpec{optSpec: optSpec{arg: "abCln", long: "filter"}, operands: allFiles, access: reads}},
	{"git", fileSpec{}},
}

const curlArgs = "output output-dir config data data-ascii data-binary data-raw data-urlencode header request user user-agent cookie cookie-jar referer proxy form form-string upload-file max-time connect-timeout retry retry-delay write-out dump-header cert key cacert capath resolve connect-to interface dns-servers range url url-query json proxy-user socks5 socks5-hostname socks4 preproxy netrc-file trace trace-ascii stderr etag-save etag-compare libcurl limit-rate doh-url unix-socket abstract-unix-socket"

// mention records the files and hosts that a command names.
func (w *walker) mention(words []word, base string, prog *program, p pctx) {
	if w.a.light {
		return
	}
	w.hosts(words, base, prog)
	if prog == nil || prog.files == nil || p.remote || w.remote {
		return
	}
	switch base {
	case "find", "gfind":
		w.findFiles(words, p)
		return
	case "git":
		w.gitFiles(words, p)
		return
	}
	w.fileOperands(words, base, prog.files, p)
}

func (w *walker) fileOperands(words []word, base string, s *fileSpec, p pctx) {
	a := w.a
	o := opts{optSpec: s.optSpec, words: words[1:]}
	var operandsBuf [16]word
	list := operandsBuf[:0]
	given, inPlace, target := false, false, false
	dir, known := a.dir, a.dirKnown
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if kind == optOperand {
			list = append(list, o.value)
			continue
		}
		opt := strings.TrimLeft(name, "-")
		given = given || inList(s.given, opt)
		inPlace = inPlace || inList(s.when, opt)
		if !o.has {
			continue
		}
		v := o.value
		switch {
		case inList(s.write, opt):
			target = target || opt == "t" || opt == "target-directory"
			w.fileWord(&v, writes, base, p)
		case inList(s.read, opt):
			w.fileWord(&v, reads, base, p)
		case inList(s.dir, opt):
			w.fileWord(&v, writes, base, p)
			w.cd([]word{text("cd"), v}, "cd")
		case base == "curl" && strings.HasPrefix(v.val, "@"):
			f, _ := cutWord(&v, "@")
			w.fileWord(&f, reads, base, p)
		case base == "curl":
			if _, f, ok := strings.Cut(v.val, "=@"); ok && v.is(wStatic) {
				t := text(f)
				w.fileWord(&t, reads, base, p)
			}
		}
	}
	if base == "tar" && len(words) > 1 && words[1].val != "" && words[1].val[0] != '-' && strings.ContainsRune(words[1].val, 'f') && len(list) > 1 {
		v := list[1] // tar cf FILE
		acc := reads
		if strings.ContainsAny(words[1].val, "cru") {
			acc = writes
		}
		w.fileWord(&v, acc, base, p)
	}
	switch s.operands {
	case allFiles:
		for i := range list {
			w.fileWord(&list[i], s.access, base, p)
		}
	case lastFile:
		for i := range list {
			if i == len(list)-1 && len(list) > 1 && !target {
				w.fileWord(&list[i], s.access, base, p)
			} else {
				w.fileWord(&list[i], s.source, base, p)
			}
		}
	case allButFirst:
		if !given && len(list) > 0 {
			list = list[1:]
		}
		acc := s.access
		if inPlace {
			acc = writes
		}
		for i := range list {
			w.fileWord(&list[i], acc, base, p)
		}
	case prefixed:
		for i := range list {
			if f, ok := cutWord(&list[i], "of="); ok {
				w.fileWord(&f, writes, base, p)
			}
			if f, ok := cutWord(&list[i], "if="); ok {
				w.fileWord(&f, reads, base, p)
			}
		}
	}
	a.dir, a.dirKnown = dir, known
}

func (w *walker) findFiles(words []word, p pctx) {
	i := 1
	from := i
	for ; i < len(words) && !strings.HasPrefix(words[i].val, "-") && words[i].val != "(" && words[i].val != "!"; i++ {
	}
	acc := lists
	for k := i; k < len(words); k++ {
		switch words[k].val {
		case "-delete":
			acc = deletes
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if k+1 < len(words) {
				w.fileWord(&words[k+1], writes, "find", p)
			}
		case "-newer", "-anewer", "-cnewer", "-samefile", "-files0-from":
			if k+1 < len(words) {
				w.fileWord(&words[k+1], reads, "find", p)
			}
		}
	}
	for k := from; k < i; k++ {
		w.fileWord(&words[k], acc, "find", p)
	}
}

func (w *walker) gitFiles(words []word, p pctx) {
	for i := 1; i < len(words); i++ {
		if f, ok := cutWord(&words[i], "--output="); ok {
			w.fileWord(&f, writes, "git", p)
		} else if words[i].val == "--output" && i+1 < len(words) {
			w.fileWord(&words[i+1], writes, "git", p)
		}
	}
}

// fileWord records one file operand, if its value is known.
func (w *walker) fileWord(v *word, acc access, program string, p pctx) {
	if p.remote || w.remote {
		return
	}
	if v.is(wStatic) {
		if v.val == "" || v.val == "-" {
			return
		}
		if (program == "scp" || program == "rsync") && remotePath(v.val) {
			return
		}
		w.a.addFile(literalPath(v), accesses[acc], program, p.part)
		return
	}
	if s, ok := w.homePath(v); ok {
		w.a.addFile(s, accesses[acc], program, p.part)
	}
}

func remotePath(s string) bool {
	i := strings.IndexByte(s, ':')
	return i > 0 && strings.IndexByte(s[:i], '/') < 0
}

func (a *analysis) addFile(value string, acc model.Access, program string, part int) {
	if a.light || len(a.files) >= maxListed {
		return
	}
	f := model.FileUse{Value: value, Access: acc, Dir: a.dir, DirKnown: a.dirKnown, Part: part, Program: program}
	if !a.dirKnown {
		f.Dir = ""
	}
	for i := max(0, len(a.files)-8); i < len(a.files); i++ {
		if a.files[i] == f {
			return
		}
	}
	a.files = append(a.files, f)
}

// literalPath is the value of a static word as a path: an active tilde is kept,
// a quoted one, or a quoted $HOME, is made to look like the file that it is.
func literalPath(v *word) string {
	s := v.val
	if s == "" || s[0] != '~' && s[0] != '$' {
		return s
	}
	if s[0] == '~' && v.is(wTilde) {
		return s
	}
	return "./" + s
}

// homePath is the path that a word with a leading $HOME or $PWD stands for.
func (w *walker) homePath(v *word) (string, bool) {
	if v.is(wStatic) || v.node == nil || len(v.node.Parts) == 0 {
		return "", false
	}
	parts := v.node.Parts
	if d, ok := parts[0].(*syntax.DblQuoted); ok && !d.Dollar {
		parts = append(append([]syntax.WordPart{}, d.Parts...), parts[1:]...)
	}
	if len(parts) == 0 {
		return "", false
	}
	e, ok := parts[0].(*syntax.ParamExp)
	if !ok || e.Param == nil || e.Excl || e.Length || e.Index != nil || e.Exp != nil || e.Slice != nil || e.Repl != nil ||
		e.Flags != nil || e.Param.Value != "HOME" && e.Param.Value != "PWD" {
		return "", false
	}
	if _, set := w.a.vars[e.Param.Value]; set {
		return "", false
	}
	s := "$" + e.Param.Value
	for _, p := range parts[1:] {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[") {
				return "", false
			}
			s += p.Value
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			s += p.Value
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok || strings.IndexByte(l.Value, '\\') >= 0 {
					return "", false
				}
				s += l.Value
			}
		default:
			return "", false
		}
	}
	if len(s) > len(e.Param.Value)+1 && s[len(e.Param.Value)+1] != '/' {
		return "", false
	}
	return s, true
}

// hostSpec says which operands of a program are hosts.
type hostSpec uint8

const (
	noHosts hostSpec = iota
	// firstHost: the first operand; allHosts: every operand; copyHosts: user@host:path.
	firstHost
	allHosts
	copyHosts
)

// hostTable has one line per kind of program with hosts as operands.
var hostTable = []struct {
	names string
	hostSpec
}{
	{"ssh autossh mosh sftp telnet nc ncat netcat rsh rlogin ssh-copy-id ftp tftp whois socket", firstHost},
	{"ping ping6 dig nslookup host traceroute tracepath mtr nmap ssh-keyscan curl wget aria2c http https xh fping", allHosts},
	{"scp rsync", copyHosts},
}

// hostOptions are the options of those programs that take an argument.
var hostOptions = map[string]optSpec{
	"curl": {arg: "AbcCdDeEFhHKmoPQrTuUwxXyYzt", long: curlArgs},
	"wget": {arg: "OoaePUAiRDItwTlQB", long: "output-document output-file append-output directory-prefix input-file post-file body-file post-data body-data load-cookies save-cookies certificate private-key user-agent header execute tries timeout referer user password method"},
	"ssh":  {arg: "BbcDEeFIiJLlmOoPpQRSWw"},
	"sftp": {arg: "BbcDFiJloPRSsX"},
	"nc":   {arg: "ecpswxXqiIOTVgmdG"},
	"ncat": {arg: "ecpswxXqiIOTVgmdG"},
	"ping": {arg: "cistwWIQSlmMp"},
	"dig":  {arg: "bcfkpqtxy"},
	"nmap": {arg: "psSoTeDgiL", long: "script script-args exclude top-ports"},
}

// hosts records the hosts that the words name.
func (w *walker) hosts(words []word, base string, prog *program) {
	for i := 1; i < len(words); i++ {
		if s := words[i].val; strings.Contains(s, "://") {
			w.a.urlHost(s, words[i].is(wStatic))
		} else if base == "git" && strings.IndexByte(s, ':') > 0 && strings.IndexByte(s, '@') > 0 {
			w.a.copyHost(s)
		}
	}
	if base == "openssl" {
		for i := 1; i+1 < len(words); i++ {
			if words[i].val == "-connect" {
				w.a.addHost(words[i+1].val)
			}
		}
	}
	if prog == nil || prog.hosts == noHosts {
		return
	}
	o := opts{optSpec: hostOptions[base], words: words[1:]}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if kind == optOption {
			switch name {
			case "-x", "--proxy", "--preproxy", "--socks5", "--socks5-hostname", "--socks4", "-J", "--connect-to":
				if o.has && (base == "curl" || name == "-J") {
					w.a.addHost(o.value.val)
				}
			case "--resolve":
				if parts := strings.Split(o.value.val, ":"); o.has && len(parts) > 2 {
					w.a.addHost(parts[0])
					w.a.addHost(parts[2])
				}
			case "--url":
				w.a.addHost(o.value.val)
			}
			continue
		}
		v := o.value.val
		switch {
		case strings.Contains(v, "://"):
		case prog.hosts == copyHosts:
			w.a.copyHost(v)
			continue
		case !o.value.is(wStatic):
			// curl "example.com/$x": the host is known if a slash follows it.
			if i := strings.IndexByte(v, '/'); i > 0 {
				w.a.addHost(v[:i])
			}
		case base == "dig" && strings.HasPrefix(v, "@"):
			w.a.addHost(v[1:])
		case base == "dig" && strings.HasPrefix(v, "+"):
		default:
			w.a.addHost(v)
		}
		if prog.hosts == firstHost {
			return
		}
	}
}

// urlHost finds the URL in a word: at its start or behind `=`.
func (a *analysis) urlHost(s string, static bool) {
	i := strings.Index(s, "://")
	from := i
	for from > 0 && (nameStart(s[from-1]) || s[from-1] >= '0' && s[from-1] <= '9' || strings.IndexByte("+.-", s[from-1]) >= 0) {
		from--
	}
	if from > 0 && s[from-1] != '=' && s[from-1] != '@' && s[from-1] != ':' {
		return
	}
	rest := s[i+3:]
	if k := strings.IndexAny(rest, "/?#"); k >= 0 {
		rest = rest[:k]
	} else if !static {
		return // the host goes on in an expansion
	}
	a.addHost(rest)
}

func (a *analysis) copyHost(s string) {
	if head, _, ok := strings.Cut(s, ":"); ok && strings.IndexByte(head, '/') < 0 && len(head) > 1 {
		a.addHost(head)
	}
}

// netRedirect: /dev/tcp/HOST/PORT is a connection.
func (w *walker) netRedirect(v *word) {
	for _, pre := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(v.val, pre); ok {
			host, _, full := strings.Cut(rest, "/")
			if full || v.is(wStatic) {
				w.a.addHost(host)
			}
		}
	}
}

// addHost records a host in its plain form: no user, port, brackets, path or
// trailing dot, lower case.
func (a *analysis) addHost(s string) {
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i > 0 {
			s = s[1:i]
		}
	} else if i := strings.IndexByte(s, ':'); i >= 0 && strings.Count(s, ":") == 1 {
		s = s[:i]
	}
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || strings.HasPrefix(s, "-") || a.light || len(a.c.Hosts) >= 256 {
		return
	}
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || strings.IndexByte("\"'`$\\(){}<>|;&*!,=", s[i]) >= 0 {
			return
		}
	}
	if !slices.Contains(a.c.Hosts, s) {
		a.c.Hosts = append(a.c.Hosts, s)
	}
}
