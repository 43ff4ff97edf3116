package shell

import "strings"

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
