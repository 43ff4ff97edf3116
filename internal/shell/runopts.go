package shell

import "strings"

// runSpec says which options of a program run another program.
type runSpec struct {
	optSpec
	// script are the options whose argument is a command line, file those whose
	// argument is a script file or module that is run, prefix those whose
	// argument is a command behind a prefix ("exec=").
	script, file, prefix string
	// operand: operands that start with this run the rest ("exec:", "\\!").
	operand []string
	// bang: option arguments and operands with '!' run the rest (psql, less).
	bang string
}

// runTable has one line per program with options that run programs.
var runTable = []struct {
	names string
	runSpec
}{
	{"tar gtar bsdtar", runSpec{optSpec: optSpec{arg: "bCfFgHIKLNTVX", long: "use-compress-program to-command checkpoint-action info-script new-volume-script rsh-command rmt-command directory file exclude exclude-from files-from transform"}, script: "I use-compress-program to-command F info-script new-volume-script rsh-command rmt-command", prefix: "checkpoint-action"}},
	{"rsync", runSpec{optSpec: optSpec{arg: "efBTM", long: "rsh rsync-path exclude exclude-from include filter files-from"}, script: "e rsh rsync-path"}},
	{"scp sftp", runSpec{optSpec: optSpec{arg: "SDFJPXciloBbR"}, script: "S D"}},
	{"sort gsort", runSpec{optSpec: optSpec{arg: "kotST", long: "compress-program key output field-separator buffer-size temporary-directory parallel"}, script: "compress-program"}},
	{"split gsplit csplit", runSpec{optSpec: optSpec{arg: "abCln", long: "filter suffix-length bytes lines number additional-suffix"}, script: "filter"}},
	{"rg", runSpec{optSpec: optSpec{arg: "efgtTmABCEMdjr", long: "pre pre-glob hostname-bin regexp file glob type iglob"}, script: "pre hostname-bin"}},
	{"man", runSpec{optSpec: optSpec{arg: "PHMCLmRrSsepTE", maybe: "H", long: "pager html"}, script: "P pager H html"}},
	{"zip", runSpec{optSpec: optSpec{long: "unzip-command", arg: "btn"}, script: "TT unzip-command"}},
	{"cpio", runSpec{optSpec: optSpec{arg: "EFHIMORC", long: "rsh-command"}, script: "rsh-command"}},
	{"wget", runSpec{optSpec: optSpec{arg: "OoaePUAiRDItwTlQB", long: "use-askpass execute"}, script: "use-askpass"}},
	{"psql", runSpec{optSpec: optSpec{arg: "cdfFhLoPpRTUv", long: "command file dbname host port username"}, bang: "c command"}},
	{"sqlite3", runSpec{optSpec: optSpec{single: true, long: "cmd init separator"}, operand: []string{".shell ", ".system ", ".sh "}, bang: "cmd"}},
	{"mysql mariadb", runSpec{optSpec: optSpec{arg: "ehuPDS", long: "execute host user pager"}, script: "pager", bang: "e execute"}},
	{"less more most", runSpec{optSpec: optSpec{arg: "PpxyzbhjkoOtT"}, operand: []string{"+!"}}},
	{"gdb lldb", runSpec{optSpec: optSpec{single: true, long: "ex eval-command iex x command o one-line"}, bang: "ex eval-command iex o one-line"}},
	{"socat", runSpec{operand: []string{"EXEC:", "SYSTEM:", "exec:", "system:", "Exec:", "System:", "SHELL:", "shell:"}}},
	{"nc ncat netcat", runSpec{optSpec: optSpec{arg: "ecpswxXqiIOTVgmdG", long: "exec sh-exec lua-exec"}, script: "e c exec sh-exec"}},
	{"gcc g++ cc c++ clang clang++", runSpec{optSpec: optSpec{single: true, long: "wrapper o I L l D include isystem"}, script: "wrapper"}},
	{"go", runSpec{optSpec: optSpec{single: true, long: "exec toolexec vettool run o C mod tags ldflags gcflags p count timeout bench cpu coverprofile"}, script: "exec toolexec vettool"}},
	{"tcpdump", runSpec{optSpec: optSpec{arg: "zirwcGWCsTEFBjMVyZ"}, script: "z"}},
	{"ansible", runSpec{optSpec: optSpec{arg: "amieflMtuT", long: "args"}, script: "a args"}},
	{"xterm gnome-terminal konsole alacritty kitty", runSpec{optSpec: optSpec{arg: "e"}, script: "e"}},
	{"nmap", runSpec{optSpec: optSpec{long: "script"}, file: "script"}},
	{"pandoc", runSpec{optSpec: optSpec{arg: "Fto", long: "filter lua-filter pdf-engine"}, script: "F filter", file: "lua-filter"}},
	{"fzf", runSpec{optSpec: optSpec{arg: "qfnd", long: "preview bind query execute"}, script: "preview", bang: ""}},
	{"helm", runSpec{optSpec: optSpec{long: "post-renderer"}, script: "post-renderer"}},
	{"bat", runSpec{optSpec: optSpec{arg: "lHrm", long: "pager"}, script: "pager"}},
	{"delta", runSpec{optSpec: optSpec{long: "pager"}, script: "pager"}},
	{"aria2c", runSpec{optSpec: optSpec{arg: "od", long: "on-download-complete on-download-start on-download-error on-download-stop on-download-pause"}, script: "on-download-complete on-download-start on-download-error on-download-stop on-download-pause"}},
	{"yt-dlp youtube-dl", runSpec{optSpec: optSpec{long: "exec exec-before-download netrc-cmd"}, script: "exec exec-before-download netrc-cmd"}},
	{"borg restic", runSpec{optSpec: optSpec{long: "rsh password-command"}, script: "rsh password-command"}},
	{"npm pnpm yarn", runSpec{optSpec: optSpec{long: "script-shell"}, script: "script-shell"}},
}

// runOptions looks at the options of a program that run programs.
func (w *walker) runOptions(words []word, base string, s *runSpec, p pctx) {
	o := opts{optSpec: s.optSpec, words: words[1:]}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if kind == optOperand {
			for _, pre := range s.operand {
				if v, ok := cutWord(&o.value, pre); ok {
					w.scriptWord(&v, base, p, rOptionExec, nil)
				}
			}
			if s.bang != "" {
				w.bangs(&o.value, base, p)
			}
			continue
		}
		opt := strings.TrimLeft(name, "-")
		if !o.has {
			continue
		}
		v := o.value
		switch {
		case inList(s.script, opt):
			w.scriptWord(&v, base, p, rOptionExec, nil)
		case inList(s.prefix, opt):
			if run, ok := cutWord(&v, "exec="); ok {
				w.scriptWord(&run, base, p, rOptionExec, nil)
			} else if !v.is(wStatic) {
				w.a.reason(rOptionExec)
			}
		case inList(s.bang, opt):
			w.bangs(&v, base, p)
		}
	}
	if base == "zip" {
		for i := 1; i+1 < len(words); i++ {
			if words[i].val == "-TT" {
				w.scriptWord(&words[i+1], base, p, rOptionExec, nil)
			}
		}
	}
}

// bangs runs what stands behind `\!`, `!` or `shell` in a command of psql, gdb …
func (w *walker) bangs(v *word, base string, p pctx) {
	s := strings.TrimSpace(v.flat())
	for _, pre := range []string{`\!`, "!", "shell ", ".shell ", ".system ", "system ", "pipe "} {
		if rest, ok := strings.CutPrefix(s, pre); ok {
			w.script(strings.TrimSpace(rest), base, p, nil)
			return
		}
	}
	if i := strings.Index(s, `\!`); i >= 0 {
		w.script(s[i+2:], base, p, nil)
	}
}

// runner finds the subcommand of a runner and goes on with what it runs.
func (w *walker) runner(words []word, base string, p pctx) bool {
	for _, r := range runners[base] {
		at, folders, ok := r.find(words)
		if !ok {
			continue
		}
		dir, known := w.a.dir, w.a.dirKnown
		for i := range folders {
			w.enter(&folders[i])
		}
		head := append([]word{words[at-1]}, words[at:]...)
		w.unwrap(head, r.words, &r.wrapper, p)
		w.a.dir, w.a.dirKnown = dir, known
		return true
	}
	return false
}

// find reads the program, its options and its subcommands, and returns the
// index of the word behind them and the folders that options before it name.
func (r *runner) find(words []word) (at int, folders []word, ok bool) {
	_, subs, _ := strings.Cut(r.words, " ")
	o := opts{optSpec: r.global, words: words[1:]}
	for subs != "" {
		sub, rest, _ := strings.Cut(subs, " ")
		for {
			name, kind := o.next()
			if kind == optEnd {
				return 0, nil, false
			}
			if kind == optOperand {
				break
			}
			if o.has && r.dir != "" && inList(r.dir, strings.TrimLeft(name, "-")) {
				folders = append(folders, o.value)
			}
		}
		if !o.value.is(wStatic) || o.value.val != sub {
			return 0, nil, false
		}
		subs = rest
		o.rest = false
	}
	return o.i + 1, folders, true
}

// dockerRun reads `docker run [options] image command...`.
func (w *walker) dockerRun(words []word, p pctx) {
	o := opts{optSpec: dockerGlobal, words: words[1:]}
	for {
		_, kind := o.next()
		if kind == optEnd {
			return
		}
		if kind != optOperand {
			continue
		}
		if s := o.value.val; s == "container" {
			continue
		} else if s != "run" && s != "create" {
			return
		}
		break
	}
	at := o.at + 2
	in := opts{optSpec: optSpec{
		arg:  "aceuhlmpvw",
		long: "add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota cpu-shares cpus cpuset-cpus cpuset-mems detach-keys device dns dns-option dns-search domainname entrypoint env env-file expose gpus group-add health-cmd health-interval health-retries health-timeout hostname ip ip6 ipc isolation label label-file link log-driver log-opt mac-address memory memory-swap mount name network network-alias net oom-score-adj pid pids-limit platform publish pull restart runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from workdir",
	}, words: words[at:]}
	p.remote = true
	entry := word{}
	has := false
	for {
		name, kind := in.next()
		if kind == optEnd {
			return
		}
		if name == "--entrypoint" && in.has {
			entry, has = in.value, true
		}
		if name == "--health-cmd" && in.has {
			w.scriptWord(&in.value, "docker", p, rOptionExec, nil)
		}
		if kind == optOperand {
			break
		}
	}
	rest := words[at+in.at+1:]
	if has {
		w.inner(append([]word{entry}, rest...), "docker", p)
		return
	}
	w.inner(rest, "docker", p)
}
