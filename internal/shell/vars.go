package shell

import (
	"path"
	"strings"
)

// varKind says what setting a variable can do.
type varKind uint8

const (
	varHarmless varKind = iota
	// varPath changes what names mean; varExec makes programs run other code at
	// once: both make the text opaque.
	varPath
	varExec
	// varPrompt is expanded as a prompt, which runs the substitutions in it.
	varPrompt
	// varCommand holds a command line.
	varCommand
	// varFlagged can change what programs load or where they connect: the
	// assignment needs a rule, but the text is not opaque.
	varFlagged
)

// variableTable has one line per kind of variable.
var variableTable = []struct {
	kind  varKind
	names string
}{
	{varPath, "PATH path fpath FPATH BASH_CMDS BASH_ALIASES commands aliases galiases saliases dis_aliases functions dis_functions PATHEXT EXECIGNORE"},
	{varExec, "BASH_ENV ENV LD_PRELOAD LD_AUDIT NULLCMD READNULLCMD ZDOTDIR SHELLOPTS BASHOPTS BASH_LOADABLES_PATH module_path MODULE_PATH precmd_functions preexec_functions chpwd_functions GCONV_PATH GLIBC_TUNABLES"},
	{varPrompt, "PS4 PS0 PS1 PS2 PS3 PROMPT RPROMPT PROMPT2 PROMPT3 PROMPT4 PROMPT_COMMAND prompt"},
	{varCommand, "GIT_SSH_COMMAND GIT_SSH GIT_PAGER PAGER MANPAGER LESSOPEN LESSCLOSE EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF " +
		"GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND BROWSER RSYNC_RSH FCEDIT HGEDITOR SVN_EDITOR SVN_SSH CVS_RSH " +
		"SYSTEMD_PAGER SYSTEMD_EDITOR BAT_PAGER DELTA_PAGER PSQL_PAGER PSQL_EDITOR MYSQL_PAGER KUBE_EDITOR TEXEDIT MAILER SUDO_EDITOR " +
		"RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CMAKE_C_COMPILER_LAUNCHER npm_config_editor npm_config_script_shell DOCKER_SSH_COMMAND BORG_RSH RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND"},
	{varFlagged, "NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONWARNINGS PYTHONBREAKPOINT RUBYOPT RUBYLIB PERL5OPT PERL5LIB PERL5DB JAVA_TOOL_OPTIONS " +
		"_JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS CLASSPATH GOFLAGS GOENV GOROOT GOPATH GOPROXY GONOSUMDB GONOSUMCHECK GOINSECURE GOSUMDB GOTOOLCHAIN GOPRIVATE CC CXX LD AR AS " +
		"CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CGO_CFLAGS CGO_LDFLAGS RUSTC RUSTFLAGS RUSTDOCFLAGS RUSTUP_TOOLCHAIN CARGO_HOME MAKEFLAGS GNUMAKEFLAGS MFLAGS SHELL HOME CDPATH " +
		"IFS PWD OLDPWD TMPDIR TEMP TMP USER LOGNAME BASH_COMPAT POSIXLY_CORRECT GLOBIGNORE HISTFILE TERMINFO TERMCAP INPUTRC " +
		"LESS LESSKEY MORE GREP_OPTIONS TAR_OPTIONS RSYNC_PROXY ZIPOPT UNZIP GZIP XZ_OPT BZIP2 WGETRC CURL_HOME CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR " +
		"REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY ftp_proxy " +
		"PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE UV_INDEX_URL UV_EXTRA_INDEX_URL UV_DEFAULT_INDEX NPM_CONFIG_REGISTRY YARN_REGISTRY BUNDLE_GEMFILE GEM_HOME GEM_PATH COMPOSER_HOME " +
		"DOCKER_HOST DOCKER_CONFIG KUBECONFIG AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_ENDPOINT_URL XDG_CONFIG_HOME XDG_DATA_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS XDG_RUNTIME_DIR " +
		"SSH_AUTH_SOCK GNUPGHOME HOSTALIASES RESOLV_HOST_CONF LOCALDOMAIN RES_OPTIONS LUA_PATH LUA_CPATH LUA_INIT PHPRC PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER R_HOME JULIA_LOAD_PATH " +
		"GTK_PATH QT_PLUGIN_PATH OPENSSL_CONF OPENSSL_ENGINES PKG_CONFIG_PATH CMAKE_PREFIX_PATH EMACSLOADPATH VIMINIT EXINIT VIM VIMRUNTIME MANPATH TCLLIBPATH FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS RIPGREP_CONFIG_PATH"},
}

// variablePrefixes have one line per family of names.
var variablePrefixes = []struct {
	prefix string
	kind   varKind
}{
	{"BASH_FUNC_", varExec},
	{"DYLD_", varExec},
	{"LD_", varFlagged},
	{"GIT_", varFlagged},
	{"npm_config_", varFlagged},
	{"NPM_CONFIG_", varFlagged},
	{"YARN_", varFlagged},
	{"PNPM_", varFlagged},
	{"PIP_", varFlagged},
	{"UV_", varFlagged},
	{"BUNDLE_", varFlagged},
	{"CARGO_", varFlagged},
	{"LICTOR_", varFlagged},
	{"_JAVA", varFlagged},
	{"COR_", varFlagged},
	{"CORECLR_", varFlagged},
	{"DOTNET_STARTUP", varFlagged},
}

var variables = func() map[string]varKind {
	m := map[string]varKind{}
	for _, t := range variableTable {
		for name := range strings.FieldsSeq(t.names) {
			m[name] = t.kind
		}
	}
	return m
}()

// variableOf says what setting the variable can do.
func variableOf(name string) varKind {
	if k, ok := variables[name]; ok {
		return k
	}
	for i := range variablePrefixes {
		if strings.HasPrefix(name, variablePrefixes[i].prefix) {
			return variablePrefixes[i].kind
		}
	}
	switch {
	case strings.HasSuffix(name, "_PAGER"), strings.HasSuffix(name, "_EDITOR"), strings.HasSuffix(name, "_ASKPASS"):
		return varCommand
	}
	return varHarmless
}

// suspicious reports a value that runs a command when it is used as arithmetic
// or expanded as a prompt.
func (as *assignment) suspicious() bool {
	for i := range as.elems {
		if runsWhenExpanded(as.elems[i].val) {
			return true
		}
	}
	return false
}

func runsWhenExpanded(s string) bool {
	return strings.Contains(s, "$(") || strings.IndexByte(s, '`') >= 0 || strings.Contains(s, "${")
}

// assigned looks at the assignments of a command. words is the command that
// they stand before, none if they last.
func (w *walker) assigned(assigns []assignment, words []word, p pctx) {
	for i := range assigns {
		as := &assigns[i]
		if as.name == "" {
			continue
		}
		w.setting(as.name, &as.value, as, p)
		if len(words) == 0 {
			w.setVar(as.name, as.elems)
		}
		for k := range as.elems {
			if v := as.elems[k].val; runsWhenExpanded(v) && as.elems[k].is(wStatic) && len(w.a.tainted) < 64 {
				w.a.tainted = append(w.a.tainted, taint{value: v, part: p.part})
			}
		}
	}
}

// assignName looks at a name that gets a value by other means than NAME=value.
func (w *walker) assignName(name string) {
	if name == "" || w.a.light {
		return
	}
	if i := strings.IndexAny(name, "[+="); i >= 0 {
		name = name[:i]
	}
	switch variableOf(name) {
	case varPath:
		w.a.reason(rPathChange)
	case varExec, varPrompt, varCommand:
		w.a.reason(rEnvExec)
	}
}

// setting judges one variable that gets a value.
func (w *walker) setting(name string, v *word, as *assignment, p pctx) {
	a := w.a
	switch variableOf(name) {
	case varPath:
		a.reason(rPathChange)
	case varExec:
		a.reason(rEnvExec)
		if i := strings.IndexByte(v.val, '{'); strings.HasPrefix(name, "BASH_FUNC_") && i >= 0 {
			w.script(v.val[i:], name, p, nil)
		}
	case varPrompt:
		if v.is(wStatic) && !runsWhenExpanded(v.val) && name != "PROMPT_COMMAND" && !strings.Contains(v.val, `\`) && as != nil && !as.array {
			return
		}
		a.reason(rEnvExec)
		w.script(v.flat(), name, p, nil)
		w.script(": "+v.flat(), name, p, nil)
	case varCommand:
		if as != nil && as.array || !v.is(wStatic) && v.src != "" {
			a.reason(rEnvExec)
		}
		if v.flat() != "" {
			s := v.flat()
			if name == "LESSOPEN" || name == "LESSCLOSE" {
				s = strings.TrimLeft(s, "|-")
			}
			w.script(s, name, p, nil)
		}
	}
}

// envWord handles NAME=value in front of a command, as env and sudo take it.
func (w *walker) envWord(v *word, p pctx) bool {
	name, value, ok := strings.Cut(v.val, "=")
	if !ok || name == "" {
		return false
	}
	val := *v
	val.val, val.node = value, v.node
	val.wflag &^= wBare
	if !strings.HasPrefix(name, "BASH_FUNC_") {
		for i := 0; i < len(name); i++ {
			if !nameStart(name[i]) && (name[i] < '0' || name[i] > '9') {
				if strings.IndexByte(name, '/') >= 0 {
					return false
				}
				break
			}
		}
	}
	w.setting(name, &val, nil, p)
	return true
}

// subscript: a word that is evaluated as the name of a variable runs the
// substitutions in its subscript.
func (w *walker) subscript(v *word) {
	i := strings.IndexByte(v.val, '[')
	if i < 0 || !v.is(wStatic) || !runsWhenExpanded(v.val[i:]) {
		return
	}
	w.a.reason(rArithInject)
	w.a.tainted = append(w.a.tainted, taint{value: v.val, part: max(len(w.a.parts)-1, 0)})
	w.a.arith = true
}

// injections looks at the values that run when they are evaluated.
func (a *analysis) injections(w *walker) {
	if len(a.tainted) == 0 || !a.arith && !a.prompt {
		return
	}
	for _, t := range a.tainted {
		if !a.prompt && strings.IndexByte(t.value, '[') < 0 {
			continue
		}
		if !a.prompt {
			a.reason(rArithInject)
		}
		if t.part < len(a.parts) {
			w.script(": "+strings.NewReplacer("[", " ", "]", " ", "=", " ").Replace(t.value), "value", pctx{part: t.part}, nil)
		}
	}
}

// set gives the positional parameters their values.
func (w *walker) set(words []word) {
	for i := 1; i < len(words); i++ {
		s := words[i].flat()
		if s == "--" || s == "-" {
			i++
		} else if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			if strings.HasSuffix(s, "o") && i+1 < len(words) {
				i++
				switch words[i].flat() {
				case "posix", "emacs", "vi", "history", "histexpand", "functrace", "onecmd":
					w.a.reason(rDialect)
				}
			}
			if strings.ContainsAny(s, "HB") && s[0] == '-' {
				w.a.reason(rDialect)
			}
			continue
		}
		w.setVar("@", words[i:])
		w.setVar("*", words[i:])
		for k := i; k < len(words) && k-i < 9; k++ {
			w.setVar("123456789"[k-i:k-i+1], words[k:k+1])
		}
		return
	}
}

// declare looks at what declare and its kind do besides assigning.
func (w *walker) declare(words []word, base string) {
	a := w.a
	integer := base == "integer" || base == "float"
	if base == "nameref" {
		a.reason(rNameref)
	}
	for i := 1; i < len(words); i++ {
		v := &words[i]
		if s := v.val; len(s) > 1 && (s[0] == '-' || s[0] == '+') && base != "let" {
			for _, c := range []byte(s[1:]) {
				switch c {
				case 'n':
					if base != "export" && base != "readonly" && s[0] == '-' {
						a.reason(rNameref)
					}
				case 'i', 'E', 'F':
					integer = integer || s[0] == '-' && base != "export"
				case 'T', 'u', 'A', 'a':
				}
			}
			continue
		}
		w.subscript(v)
		name, value, has := strings.Cut(v.flat(), "=")
		w.declareName(name, has)
		if integer && has && runsWhenExpanded(value) {
			a.reason(rArithInject)
			a.arith = true
			a.tainted = append(a.tainted, taint{value: value, part: max(len(a.parts)-1, 0)})
		}
	}
}

// declareName judges a name that a word of declare sets ("PATH=x" in quotes).
func (w *walker) declareName(name string, has bool) {
	if !has {
		return
	}
	switch variableOf(strings.TrimSuffix(name, "+")) {
	case varPath:
		w.a.reason(rPathChange)
	case varExec:
		w.a.reason(rEnvExec)
	}
}

// cd moves the folder that later relative paths start at.
func (w *walker) cd(words []word, base string) {
	a := w.a
	i := 1
	for ; i < len(words); i++ {
		s := words[i].val
		if len(s) > 1 && s[0] == '-' && words[i].is(wStatic) {
			if s == "--" {
				i++
				break
			}
			continue
		}
		break
	}
	switch {
	case base == "popd", len(words)-i > 1:
		a.dir, a.dirKnown = "?", false
	case i >= len(words):
		if base == "pushd" {
			a.dir, a.dirKnown = "?", false
			return
		}
		a.dir, a.dirKnown = "~", true
	default:
		v := &words[i]
		s, ok := v.val, v.is(wStatic) && !v.is(wGlob|wBrace)
		if h, home := w.homePath(v); home {
			s, ok = h, true
		} else if ok {
			s = literalPath(v)
		}
		if !ok || s == "-" || s == "" || strings.HasPrefix(s, "+") && base == "pushd" {
			a.dir, a.dirKnown = "?", false
			return
		}
		if rooted(s) {
			a.dir, a.dirKnown = s, true
			return
		}
		if a.dirKnown {
			a.dir = path.Join(a.dir, s)
		}
	}
}

// rooted reports a path that does not depend on the folder.
func rooted(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "$HOME") || strings.HasPrefix(s, "$PWD")
}
