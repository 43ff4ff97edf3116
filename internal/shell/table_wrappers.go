package shell

// wrapperTable has one line per program that runs the command in its words:
// its options, and how many words stand before the command.
var wrapperTable = []struct {
	names string
	wrapper
}{
	{"sudo", wrapper{optSpec: optSpec{arg: "CDRTUaghprtu", long: "user group host prompt chdir chroot close-from type role command-timeout other-user auth-type login-class"}, flags: "AbBEeHiKklNnPSsVv", assigns: true, bare: true, none: "e edit", dir: "D chdir", root: "R chroot"}},
	{"doas", wrapper{optSpec: optSpec{arg: "aCu"}, flags: "Lns", assigns: true, bare: true}},
	{"pkexec", wrapper{optSpec: optSpec{long: "user"}, bare: true}},
	{"env genv", wrapper{optSpec: optSpec{arg: "uCSa", long: "unset chdir split-string argv0", maybe: ""}, flags: "i0v", assigns: true, dir: "C chdir"}},
	{"command", wrapper{flags: "p", none: "v V"}},
	{"builtin", wrapper{}},
	{"exec", wrapper{optSpec: optSpec{arg: "a"}, flags: "cl"}},
	{"nohup noglob nocorrect - fakeroot proxychains proxychains4 torsocks torify dumb-init catchsegv eatmydata rlwrap winpty valgrind heaptrack firejail", wrapper{}},
	{"setsid", wrapper{flags: "cfw"}},
	{"nice gnice", wrapper{optSpec: optSpec{arg: "n", long: "adjustment"}, numeric: true}},
	{"ionice", wrapper{optSpec: optSpec{arg: "cn", long: "class classdata"}, flags: "t", none: "p pid u P"}},
	{"timeout gtimeout", wrapper{optSpec: optSpec{arg: "ks", long: "kill-after signal"}, flags: "vfp", skip: 1}},
	{"stdbuf gstdbuf", wrapper{optSpec: optSpec{arg: "ioe", long: "input output error"}}},
	{"unbuffer", wrapper{flags: "p"}},
	{"time gtime", wrapper{optSpec: optSpec{arg: "fo", long: "format output"}, flags: "pavql"}},
	{"chrt", wrapper{optSpec: optSpec{arg: "TPD", long: "sched-runtime sched-period sched-deadline"}, flags: "abdfiormRv", none: "p pid", skip: 1}},
	{"taskset", wrapper{flags: "ac", none: "p pid", skip: 1}},
	{"chroot", wrapper{optSpec: optSpec{long: "groups userspec"}, skip: 1, bare: true, jail: true}},
	{"unshare", wrapper{optSpec: optSpec{arg: "SGRw", long: "setuid setgid root wd map-user map-group map-users map-groups propagation setgroups"}, flags: "iCmnpuUTfrc", bare: true, dir: "w wd", root: "R root"}},
	{"nsenter", wrapper{optSpec: optSpec{arg: "tSGWw", maybe: "mnpuiUCTr", long: "target setuid setgid wdns"}, flags: "aFZe", bare: true, root: "t r w W target wdns"}},
	{"strace", wrapper{optSpec: optSpec{arg: "abeEIoOpPsSuUX", long: "attach output trace signal"}, flags: "cCdDfFhiknNqrtTvVwxyYzZ"}},
	{"ltrace", wrapper{optSpec: optSpec{arg: "aAeDFlnopsuwx", long: "output"}, flags: "bcCfghiLrStTV"}},
	{"busybox toybox", wrapper{none: "list install"}},
	{"caffeinate", wrapper{optSpec: optSpec{arg: "tw"}, flags: "disum"}},
	{"arch", wrapper{optSpec: optSpec{arg: "de", long: "arch"}, flags: "hcx3264"}},
	{"setarch linux32 linux64 i386 x86_64 uname26", wrapper{flags: "BFILRSTXZ3v"}},
	{"prlimit", wrapper{optSpec: optSpec{arg: "op", maybe: "cdefilmnqrstuvxy"}}},
	{"cpulimit", wrapper{optSpec: optSpec{arg: "lpePc", long: "limit pid exe path cpu"}, flags: "bfikmqrvz"}},
	{"numactl", wrapper{optSpec: optSpec{arg: "CNipmcPwfSL", long: "interleave preferred physcpubind cpunodebind membind"}, flags: "aslHdTtV"}},
	{"gosu su-exec", wrapper{skip: 1}},
	{"tini tini-static catatonit", wrapper{optSpec: optSpec{arg: "pe"}, flags: "svwgl"}},
	{"ssh-agent", wrapper{optSpec: optSpec{arg: "aEOPt"}, flags: "cDdks"}},
	{"dbus-run-session", wrapper{optSpec: optSpec{long: "config-file dbus-daemon"}}},
	{"xvfb-run", wrapper{optSpec: optSpec{arg: "efnpsw", long: "error-file auth-file server-num xauth-protocol server-args wait"}, flags: "ahl"}},
	{"systemd-run", wrapper{optSpec: optSpec{arg: "ptuHMCE", long: "unit property description slice uid gid nice working-directory setenv host machine on-active on-boot on-startup on-unit-active on-calendar timer-property path-property socket-property service-type"}, flags: "GPqrSd", dir: "working-directory", root: "M H machine host"}},
	{"systemd-inhibit", wrapper{optSpec: optSpec{long: "what who why mode"}}},
	{"flock", wrapper{optSpec: optSpec{arg: "wEc", long: "wait timeout conflict-exit-code command"}, flags: "senuxoFv", skip: 1, script: "c command"}},
	{"runuser", wrapper{optSpec: optSpec{arg: "ugGcsw", long: "user group supp-group command session-command shell whitelist-environment"}, flags: "flmPp", script: "c command session-command"}},
	{"script", wrapper{optSpec: optSpec{arg: "cIOBEmTo", maybe: "t", long: "command log-in log-out log-io echo log-timing logging-format output-limit"}, flags: "aefqkrd", script: "c command", skip: 1}},
	{"setpriv", wrapper{optSpec: optSpec{long: "ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups securebits pdeathsig selinux-label apparmor-profile"}, flags: "d"}},
	{"capsh", wrapper{script: "c"}},
	{"watch", wrapper{optSpec: optSpec{arg: "nq", long: "interval equexit", maybe: "d"}, flags: "bcCegtwxpr", joins: true}},
	{"repeat", wrapper{skip: 1}},
	{"entr", wrapper{flags: "acdnprsxz"}},
	{"watchexec", wrapper{optSpec: optSpec{arg: "wefisdoE", long: "watch exts filter ignore signal debounce on-busy-update env shell delay-run"}, flags: "cnrpvq", joins: true}},
	{"cross-env cross-env-shell env-cmd", wrapper{optSpec: optSpec{arg: "fe"}, assigns: true}},
	{"dotenv dotenvx", wrapper{optSpec: optSpec{arg: "efvpc"}, dashes: true}},
	{"chpst", wrapper{optSpec: optSpec{arg: "uUebmdofpcrt/nl"}, flags: "vP012"}},
	{"softlimit", wrapper{optSpec: optSpec{arg: "acdfhlmoprst"}}},
	{"envdir setuidgid envuidgid", wrapper{skip: 1}},
	{"gdbserver", wrapper{skip: 1}},
	{"ifne chronic", wrapper{flags: "nve"}},
	{"sem", wrapper{optSpec: optSpec{arg: "j", long: "jobs id semaphorename"}, joins: true}},
	{"faketime", wrapper{optSpec: optSpec{arg: "p"}, flags: "mf", skip: 1}},
	{"bwrap", wrapper{optSpec: optSpec{long: "chdir uid gid hostname tmpfs proc dev mqueue dir lock-file exec-label file-label cap-add cap-drop seccomp info-fd json-status-fd block-fd sync-fd userns-block-fd userns pidns argv0 perms size remount-ro unsetenv args"}, dashes: true, jail: true}},
}

// injectable are the programs with options that run other programs.
const injectable = "find fd fdfind tar gtar bsdtar rsync ssh scp sftp sed gsed awk gawk mawk nawk sort split rg man vim vi nvim view ex zip"

// actionTable has one line per kind of special knowledge.
var actionTable = []struct {
	names string
	do    action
}{
	{"sh bash zsh dash ksh mksh ash rbash yash oksh", doShell},
	{"fish pwsh powershell nu xonsh elvish tcsh csh cmd", doForeignShell},
	{"eval", doEval},
	{"trap", doTrap},
	{"source .", doSource},
	{"ssh autossh mosh", doSSH},
	{"xargs gxargs", doXargs},
	{"parallel", doParallel},
	{"find gfind", doFind},
	{"fd fdfind", doFd},
	{"git", doGit},
	{"python python3 python2 pypy node nodejs bun deno perl ruby php lua luajit tclsh osascript Rscript julia irb ghci groovy scala elixir", doInterp},
	{"awk gawk mawk nawk", doAwk},
	{"sed gsed", doSed},
	{"vim vi nvim view ex gvim vimdiff ed emacs", doVim},
	{"make gmake", doMake},
	{"crontab at batch", doDeferred},
	{"alias", doAlias},
	{"hash rehash", doHash},
	{"enable disable", doEnable},
	{"bind bindkey zle", doBind},
	{"fc", doFc},
	{"zmodload autoload functions unfunction emulate", doZmodload},
	{"shopt setopt unsetopt", doShopt},
	{"set", doSet},
	{"cd pushd popd chdir", doCd},
	{"test [ unset exit return shift break continue logout bye", doTest},
	{"printf print", doPrintf},
	{"read vared getopts wait", doRead},
	{"export declare typeset local readonly integer float nameref let", doDeclare},
	{"mapfile readarray", doMapfile},
	{"compgen complete", doCompgen},
	{"su", doSu},
	{"docker podman nerdctl", doDockerRun},
	{"hyperfine concurrently nodemon chokidar ts-node-dev onchange", doScripts},
	{"tmux screen", doTmux},
	{"env genv", doEnv},
	{"sudo", doSudo},
}

// runners are the programs with subcommands that run a command, by name.
var runners = map[string][]*runner{}

// runner is a program and subcommand that runs the command in its words.
type runner struct {
	words string
	// global are the options before the subcommand.
	global optSpec
	wrapper
}

var (
	dockerGlobal  = optSpec{arg: "cHl", long: "config context host log-level tlscacert tlscert tlskey"}
	composeGlobal = optSpec{arg: "fpc", long: "file project-name profile env-file project-directory context host"}
	kubeGlobal    = optSpec{arg: "ns", long: "namespace context cluster user kubeconfig server token as request-timeout"}
)

// runnerTable has one line per runner.
var runnerTable = []runner{
	{words: "npx", wrapper: wrapper{optSpec: optSpec{arg: "pcw", long: "package call workspace"}, flags: "yq", script: "c call"}},
	{words: "bunx", wrapper: wrapper{optSpec: optSpec{arg: "p", long: "package"}}},
	{words: "pnpx", wrapper: wrapper{}},
	{words: "uvx", wrapper: wrapper{optSpec: optSpec{arg: "pw", long: "from with python index index-url with-editable with-requirements"}, flags: "qvnU"}},
	{words: "pipx run", wrapper: wrapper{optSpec: optSpec{long: "spec python pip-args index-url"}}},
	{words: "npm exec", wrapper: wrapper{optSpec: optSpec{arg: "cw", long: "package call workspace prefix"}, flags: "y", script: "c call"}},
	{words: "npm x", wrapper: wrapper{optSpec: optSpec{arg: "cw", long: "package call workspace prefix"}, flags: "y", script: "c call"}},
	{words: "pnpm exec", global: optSpec{arg: "CF", long: "dir filter"}, wrapper: wrapper{optSpec: optSpec{arg: "C", long: "dir"}, flags: "crw", dir: "C dir"}},
	{words: "pnpm dlx", global: optSpec{arg: "CF", long: "dir filter"}, wrapper: wrapper{optSpec: optSpec{long: "package"}, flags: "cs"}},
	{words: "yarn exec", wrapper: wrapper{}},
	{words: "yarn dlx", wrapper: wrapper{optSpec: optSpec{arg: "p", long: "package"}, flags: "q"}},
	{words: "bun x", wrapper: wrapper{optSpec: optSpec{arg: "p", long: "package"}}},
	{words: "uv run", global: optSpec{long: "directory project cache-dir config-file"}, wrapper: wrapper{optSpec: optSpec{arg: "pw", long: "with with-editable with-requirements python extra group only-group env-file index index-url package directory project no-group no-extra module"}, flags: "qvnUsm", dir: "directory"}},
	{words: "uv tool run", wrapper: wrapper{optSpec: optSpec{long: "from with python"}}},
	{words: "poetry run", global: optSpec{arg: "CP", long: "directory project"}, wrapper: wrapper{dir: "C directory"}},
	{words: "pipenv run", wrapper: wrapper{}},
	{words: "pdm run", wrapper: wrapper{optSpec: optSpec{arg: "p", long: "project site-packages env-file"}}},
	{words: "hatch run", global: optSpec{arg: "ep", long: "env project data-dir cache-dir config"}, wrapper: wrapper{}},
	{words: "rye run", wrapper: wrapper{}},
	{words: "pixi run", wrapper: wrapper{optSpec: optSpec{arg: "e", long: "environment manifest-path"}}},
	{words: "conda run", wrapper: wrapper{optSpec: optSpec{arg: "np", long: "name prefix cwd"}, flags: "v", dir: "cwd"}},
	{words: "mamba run", wrapper: wrapper{optSpec: optSpec{arg: "np", long: "name prefix cwd"}, dir: "cwd"}},
	{words: "micromamba run", wrapper: wrapper{optSpec: optSpec{arg: "np", long: "name prefix cwd"}, dir: "cwd"}},
	{words: "devbox run", wrapper: wrapper{optSpec: optSpec{arg: "ce", long: "config env"}}},
	{words: "op run", wrapper: wrapper{optSpec: optSpec{long: "env-file account"}, dashes: true}},
	{words: "doppler run", wrapper: wrapper{optSpec: optSpec{arg: "pct", long: "project config token command"}, script: "command", dashes: true}},
	{words: "dotenv run", wrapper: wrapper{}},
	{words: "bundle exec", wrapper: wrapper{optSpec: optSpec{long: "gemfile"}}},
	{words: "mise exec", global: optSpec{arg: "Cj", long: "cd jobs"}, wrapper: wrapper{optSpec: optSpec{arg: "cCj", long: "command cd jobs"}, script: "c command", dashes: true, dir: "C cd"}},
	{words: "mise x", global: optSpec{arg: "Cj", long: "cd jobs"}, wrapper: wrapper{optSpec: optSpec{arg: "cCj", long: "command cd jobs"}, script: "c command", dashes: true, dir: "C cd"}},
	{words: "asdf exec", wrapper: wrapper{}},
	{words: "pyenv exec", wrapper: wrapper{}},
	{words: "rbenv exec", wrapper: wrapper{}},
	{words: "nodenv exec", wrapper: wrapper{}},
	{words: "direnv exec", wrapper: wrapper{skip: 1}},
	{words: "nvm exec", wrapper: wrapper{skip: 1}},
	{words: "nvm run", wrapper: wrapper{skip: 1}},
	{words: "fnm exec", wrapper: wrapper{optSpec: optSpec{long: "using"}}},
	{words: "volta run", wrapper: wrapper{optSpec: optSpec{long: "node npm pnpm yarn"}}},
	{words: "corepack", wrapper: wrapper{none: "enable disable"}},
	{words: "aws-vault exec", wrapper: wrapper{optSpec: optSpec{arg: "dnt", long: "duration region mfa-token"}, skip: 1, dashes: true}},
	{words: "chamber exec", wrapper: wrapper{skip: 1, dashes: true}},
	{words: "teller run", wrapper: wrapper{dashes: true}},
	{words: "infisical run", wrapper: wrapper{optSpec: optSpec{long: "command env path"}, script: "command", dashes: true}},
	{words: "docker exec", global: dockerGlobal, wrapper: wrapper{optSpec: optSpec{arg: "euw", long: "env env-file user workdir detach-keys"}, flags: "dit", skip: 1, remote: true}},
	{words: "docker container exec", global: dockerGlobal, wrapper: wrapper{optSpec: optSpec{arg: "euw", long: "env env-file user workdir detach-keys"}, flags: "dit", skip: 1, remote: true}},
	{words: "docker compose exec", global: composeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "euw", long: "env user workdir index"}, flags: "dT", skip: 1, remote: true}},
	{words: "docker compose run", global: composeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "eluvpw", long: "env user workdir name label volume publish entrypoint"}, flags: "dTP", script: "entrypoint", skip: 1, remote: true}},
	{words: "docker-compose exec", global: composeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "euw", long: "env user workdir index"}, flags: "dT", skip: 1, remote: true}},
	{words: "docker-compose run", global: composeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "eluvpw", long: "env user workdir name label volume publish entrypoint"}, flags: "dTP", script: "entrypoint", skip: 1, remote: true}},
	{words: "podman exec", wrapper: wrapper{optSpec: optSpec{arg: "euw", long: "env env-file user workdir detach-keys"}, flags: "dilt", skip: 1, remote: true}},
	{words: "nerdctl exec", wrapper: wrapper{optSpec: optSpec{arg: "euw", long: "env env-file user workdir"}, flags: "dit", skip: 1, remote: true}},
	{words: "kubectl exec", global: kubeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "cnf", long: "container namespace context filename kubeconfig"}, flags: "itq", skip: 1, remote: true, dashes: true}},
	{words: "kubectl debug", global: kubeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "cn", long: "container namespace image target"}, flags: "itq", skip: 1, remote: true, dashes: true}},
	{words: "kubectl run", global: kubeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "nl", long: "namespace image labels env port restart overrides"}, flags: "itq", skip: 1, remote: true, dashes: true}},
	{words: "oc exec", global: kubeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "cnf", long: "container namespace"}, flags: "itq", skip: 1, remote: true, dashes: true}},
	{words: "oc rsh", global: kubeGlobal, wrapper: wrapper{optSpec: optSpec{arg: "cn", long: "container namespace shell"}, flags: "T", skip: 1, remote: true}},
	{words: "lxc exec", wrapper: wrapper{skip: 1, remote: true, dashes: true}},
	{words: "heroku run", wrapper: wrapper{optSpec: optSpec{arg: "aers", long: "app env remote size type"}, joins: true, remote: true}},
	{words: "vagrant ssh", wrapper: wrapper{optSpec: optSpec{arg: "c", long: "command"}, script: "c command", remote: true, skip: 9}},
	{words: "fly ssh console", wrapper: wrapper{optSpec: optSpec{arg: "Cas", long: "command app"}, script: "C command", remote: true, skip: 9}},
	{words: "gcloud compute ssh", wrapper: wrapper{optSpec: optSpec{long: "command zone project"}, script: "command", remote: true, skip: 9}},
	{words: "nix-shell", wrapper: wrapper{optSpec: optSpec{arg: "pIA", long: "run command packages attr"}, script: "run command", skip: 99}},
	{words: "nix develop", wrapper: wrapper{optSpec: optSpec{arg: "c", long: "command"}, script: "command c", skip: 99}},
	{words: "nix shell", wrapper: wrapper{optSpec: optSpec{arg: "c", long: "command"}, script: "command c", skip: 99}},
	{words: "cargo watch", wrapper: wrapper{optSpec: optSpec{arg: "sxwi", long: "shell exec watch ignore"}, script: "s shell", dashes: true, skip: 99}},
	{words: "wsl", wrapper: wrapper{optSpec: optSpec{arg: "due", long: "distribution user cd"}, remote: true}},
}
