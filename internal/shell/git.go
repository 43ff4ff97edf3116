package shell

import "strings"

// gitGlobal are git's options before the subcommand that take an argument.
var gitGlobal = optSpec{arg: "Cc", long: "git-dir work-tree namespace super-prefix config-env attr-source list-cmds"}

// gitCommandKeys are the settings whose value is a command line; a trailing dot
// stands for any subsection.
var gitCommandKeys = []string{
	"core.pager", "core.sshcommand", "core.editor", "core.fsmonitor", "core.askpass", "core.gitproxy", "core.alternaterefscommand", "sequence.editor",
	"diff.external", "gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program", "gpg.ssh.defaultkeycommand", "credential.helper",
	"interactive.difffilter", "web.browser", "browser.", "help.browser", "man.", "uploadpack.packobjectshook", "receive.procreceiverefs",
	"sendemail.smtpserver", "sendemail.sendmailcmd", "sendemail.tocmd", "sendemail.cccmd", "sendemail.headercmd", "imap.tunnel", "instaweb.httpd",
	"pager.", "difftool.", "mergetool.", "merge.", "filter.", "trailer.", "tar.", "remote.", "submodule.", "guitool.", "alias.", "gc.recentobjectshook", "diff.", "credential.",
}

// gitOpaqueKeys are the settings that point at code elsewhere.
var gitOpaqueKeys = []string{"core.hookspath", "core.worktree", "include.path", "includeif.", "init.templatedir", "core.attributesfile", "protocol.ext.allow"}

func (w *walker) git(words []word, p pctx) {
	a := w.a
	o := opts{optSpec: gitGlobal, words: words[1:]}
	o.stop = true
	globals := false
	dir, known := a.dir, a.dirKnown
	defer func() { a.dir, a.dirKnown = dir, known }()
	for {
		name, kind := o.next()
		if kind == optEnd {
			return
		}
		if kind == optOperand {
			break
		}
		globals = true
		if o.hazy() {
			a.reason(rCmdName)
		}
		switch name {
		case "-C":
			if o.has {
				v := o.value
				w.enter(&v)
			}
		case "-c":
			if o.has {
				w.gitSetting(&o.value, p)
			}
		case "--config-env":
			a.reason(rGitConfig)
		case "--exec-path":
			if o.has {
				a.reason(rGitConfig)
			}
		}
	}
	at := o.at + 1
	if words[at].is(wSplit) && !words[at].is(wStatic) {
		a.reason(rCmdName)
	}
	sub := append([]word{text("git")}, words[at:]...)
	if globals {
		w.inner(sub, "git", p)
		return
	}
	w.gitSub(words[at].val, words[at+1:], p)
}

// gitSetting reads key=value of -c.
func (w *walker) gitSetting(v *word, p pctx) {
	key, value, _ := strings.Cut(v.val, "=")
	val := *v
	if v.is(wStatic) {
		val = text(value)
	}
	if !v.is(wStatic) && !strings.Contains(v.val, "=") {
		w.a.reason(rGitConfig)
		return
	}
	w.gitKey(key, &val, p)
}

func (w *walker) gitKey(key string, v *word, p pctx) {
	key = strings.ToLower(key)
	for _, k := range gitOpaqueKeys {
		if key == k || strings.HasSuffix(k, ".") && strings.HasPrefix(key, k) {
			w.a.reason(rGitConfig)
			return
		}
	}
	for _, k := range gitCommandKeys {
		if key != k && !(strings.HasSuffix(k, ".") && strings.HasPrefix(key, k)) {
			continue
		}
		s := v.flat()
		switch {
		case strings.HasPrefix(key, "alias."), k == "credential." || k == "credential.helper":
			if strings.HasPrefix(s, "!") {
				s = s[1:]
			} else if k == "alias." {
				w.inner(append([]word{text("git")}, textFields(s)...), "git", p)
				return
			} else if !strings.Contains(s, "/") {
				return
			}
		case k == "remote.":
			if !strings.HasSuffix(key, ".uploadpack") && !strings.HasSuffix(key, ".receivepack") && !strings.HasSuffix(key, ".vcs") && !strings.HasPrefix(s, "ext::") {
				return
			}
			if strings.HasPrefix(s, "ext::") {
				w.a.reason(rGitExt)
				s = strings.ReplaceAll(s[5:], "%", "")
			}
		case k == "submodule.":
			if !strings.HasSuffix(key, ".update") || !strings.HasPrefix(s, "!") {
				return
			}
			s = s[1:]
		case k == "diff.":
			if !strings.HasSuffix(key, ".command") && !strings.HasSuffix(key, ".textconv") {
				return
			}
		case k == "merge.":
			if !strings.HasSuffix(key, ".driver") {
				return
			}
		case k == "pager.":
			if s == "true" || s == "false" {
				return
			}
		case k == "core.fsmonitor":
			if s == "true" || s == "false" {
				return
			}
		case k == "man." || k == "browser." || k == "trailer." || k == "tar.":
			if !strings.HasSuffix(key, ".cmd") && !strings.HasSuffix(key, ".path") && !strings.HasSuffix(key, ".command") {
				return
			}
		}
		if !v.is(wStatic) {
			w.a.reason(rGitConfig)
		}
		w.script(s, "git", p, nil)
		return
	}
}

func textFields(s string) []word {
	split, err := Words(s)
	if err != nil {
		split = strings.Fields(s)
	}
	out := make([]word, len(split))
	for i := range split {
		out[i] = text(split[i])
	}
	return out
}

// gitSub looks at a subcommand of git that can run programs.
func (w *walker) gitSub(sub string, args []word, p pctx) {
	a := w.a
	for i := range args {
		if strings.HasPrefix(args[i].val, "ext::") || strings.HasPrefix(args[i].val, "fd::") {
			a.reason(rGitExt)
			w.script(strings.NewReplacer("% ", " ", "%", "").Replace(args[i].flat()[4:]), "git", p, nil)
		}
	}
	option := func(names ...string) {
		for i := range args {
			s := args[i].val
			if s == "--" {
				return
			}
			for _, n := range names {
				switch {
				case s == n && i+1 < len(args):
					w.scriptWord(&args[i+1], "git", p, rOptionExec, nil)
				case strings.HasPrefix(n, "--") && strings.HasPrefix(s, n+"="):
					v, _ := cutWord(&args[i], n+"=")
					w.scriptWord(&v, "git", p, rOptionExec, nil)
				case len(n) == 2 && strings.HasPrefix(s, n) && len(s) > 2 && s[1] != '-':
					v, _ := cutWord(&args[i], n)
					w.scriptWord(&v, "git", p, rOptionExec, nil)
				}
			}
		}
	}
	switch sub {
	case "rebase":
		option("-x", "--exec")
	case "bisect":
		if len(args) > 1 && args[0].val == "run" {
			rest := args[1:]
			if len(rest) == 1 {
				w.scriptWord(&rest[0], "git", p, rOptionExec, nil)
			}
			w.inner(rest, "git", p)
		}
	case "submodule":
		for i := range args {
			if args[i].val == "foreach" {
				rest := args[i+1:]
				for len(rest) > 0 && strings.HasPrefix(rest[0].val, "-") {
					rest = rest[1:]
				}
				w.joined1(rest, "git", p)
				return
			}
		}
	case "filter-branch":
		option("--env-filter", "--tree-filter", "--index-filter", "--parent-filter", "--msg-filter", "--commit-filter", "--tag-name-filter", "--setup")
	case "difftool", "mergetool":
		option("-x", "--extcmd")
	case "grep":
		option("-O", "--open-files-in-pager")
	case "clone", "fetch", "pull", "ls-remote", "fetch-pack", "archive", "push", "send-pack", "remote":
		option("--upload-pack", "--receive-pack", "--exec")
		if sub == "clone" {
			option("-u")
			for i := range args {
				s := args[i].val
				if (s == "-c" || s == "--config") && i+1 < len(args) {
					w.gitSetting(&args[i+1], p)
				}
				if v, ok := cutWord(&args[i], "--config="); ok {
					w.gitSetting(&v, p)
				}
				if strings.HasPrefix(s, "--template") {
					a.reason(rGitConfig)
				}
			}
		}
	case "init":
		for i := range args {
			if strings.HasPrefix(args[i].val, "--template") {
				a.reason(rGitConfig)
			}
		}
	case "config":
		w.gitConfig(args, p)
	case "send-email":
		option("--smtp-server", "--to-cmd", "--cc-cmd", "--sendmail-cmd")
	case "instaweb":
		option("--httpd", "-d", "--browser", "-b")
	case "for-each-repo":
		for i := range args {
			if !strings.HasPrefix(args[i].val, "-") {
				w.inner(append([]word{text("git")}, args[i:]...), "git", p)
				return
			}
		}
	}
}

// gitConfig reads `git config key value` in its old and its new form.
func (w *walker) gitConfig(args []word, p pctx) {
	o := opts{optSpec: optSpec{arg: "f", long: "file blob type default value comment"}, words: args}
	var operands []word
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		switch {
		case kind == optOperand:
			operands = append(operands, o.value)
		case strings.HasPrefix(name, "--get"), name == "-l", name == "--list", name == "--unset", name == "--unset-all", name == "-e", name == "--edit":
			return
		}
	}
	if len(operands) > 0 && (operands[0].val == "set" || operands[0].val == "add") {
		operands = operands[1:]
	}
	if len(operands) < 2 {
		return
	}
	if !operands[0].is(wStatic) {
		w.a.reason(rGitConfig)
		return
	}
	w.gitKey(operands[0].val, &operands[1], p)
}
