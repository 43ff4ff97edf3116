package rules

// dangerousWords are the first words that "always" never makes a rule of: they
// destroy, raise privileges, fetch code, or run whatever their arguments say.
var dangerousWords = words(
	// destroy, or change who may do what
	"rm", "rmdir", "shred", "dd", "mkfs", "fdisk", "parted", "wipefs", "truncate", "chmod", "chown", "chgrp", "chattr",
	"setfacl", "mount", "umount", "kill", "killall", "pkill", "shutdown", "reboot", "halt", "poweroff", "init", "telinit",
	"systemctl", "service", "launchctl", "crontab", "at", "batch", "useradd", "usermod", "userdel", "passwd", "visudo",
	"iptables", "nft", "ufw", "security", "defaults", "diskutil", "insmod", "modprobe", "sysctl", "mv", "ln", "tee",
	// become somebody else, or somewhere else
	"sudo", "doas", "su", "pkexec", "runuser", "gosu", "su-exec", "chroot", "unshare", "nsenter", "bwrap", "firejail",
	// run what their arguments say
	"eval", "exec", "source", ".", "command", "builtin", "env", "nohup", "setsid", "nice", "ionice", "timeout", "gtimeout",
	"stdbuf", "unbuffer", "time", "chrt", "taskset", "strace", "ltrace", "gdb", "lldb", "busybox", "toybox", "fakeroot",
	"caffeinate", "arch", "setarch", "prlimit", "script", "flock", "watch", "entr", "hyperfine", "xargs", "parallel",
	"find", "fd", "trap", "alias", "noglob", "nocorrect", "coproc", "systemd-run", "xvfb-run", "dbus-run-session",
	// shells
	"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "nu", "pwsh", "powershell", "cmd", "elvish",
	// interpreters and programs with a language of their own
	"python", "python2", "python3", "pypy", "pypy3", "ipython", "node", "nodejs", "deno", "bun", "perl", "ruby", "irb", "php",
	"lua", "luajit", "tclsh", "wish", "expect", "osascript", "Rscript", "R", "julia", "guile", "racket", "scala", "groovy", "jshell",
	"awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "m4", "sqlite3", "psql", "mysql",
	// run what they fetch
	"npx", "bunx", "pnpx", "uvx", "pipx", "tsx", "ts-node",
	// reach the network
	"curl", "wget", "http", "https", "ssh", "scp", "sftp", "rsync", "ftp", "telnet", "nc", "ncat", "netcat", "socat", "aria2c",
	// start containers and machines
	"docker", "podman", "nerdctl", "kubectl", "oc", "helm", "lxc", "vagrant", "machinectl", "terraform", "ansible", "ansible-playbook",
	"aws", "gcloud", "az",
	// set variables and options, which may change what later commands run
	"export", "declare", "typeset", "readonly", "local", "setenv", "set", "setopt", "shopt", "enable", "hash",
	// answer for the user
	"lictor",
)

// dangerousStarts are families of the same kind: python3.12, mkfs.ext4.
var dangerousStarts = []string{"python", "pypy", "perl5", "ruby", "php", "lua", "node", "mkfs", "fsck", "gawk"}

// systemRoots are the folders, with everything below them, that no rule is
// derived for on any platform.
var systemRoots = []string{
	"/etc", "/usr", "/bin", "/sbin", "/var", "/sys", "/proc", "/dev", "/boot", "/lib", "/lib64", "/root", "/srv", "/opt",
	"/System", "/Library", "/Applications", "/Volumes", "/private",
	"/lib32", "/libx32", "/run", "/nix", "/snap", "/cores",
}

// homeParents hold the homes of all users.
var homeParents = []string{"/home", "/Users", "C:/Users"}

// refusedVerbs are git commands that "always" makes no rule of: push publishes,
// the others run programs that their arguments or the configuration name.
var refusedVerbs = words("push", "send-pack", "send-email", "config", "filter-branch", "difftool", "mergetool", "daemon", "credential", "shell")

func words(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, w := range list {
		m[w] = true
	}
	return m
}
