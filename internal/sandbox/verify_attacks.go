package sandbox

// verifyAttack is one attack of Verify. The command runs in the root with F (the
// arena), HOME, VPID (a host process) and P (the probe) set.
type verifyAttack struct {
	name, what, command string
	// file is relative to the arena: the attack escaped when it holds the text "evil",
	// or, with gone, when it is no longer there. Without it the attack escaped when its
	// output holds one of the secrets or ESCAPED.
	file string
	gone bool
	// control: the command must succeed; it shows that the rest means something.
	control bool
}

// verifyAttacks is what Verify tries. The long list with its oracle in other words
// is testdata/attacks.txt.
var verifyAttacks = []verifyAttack{
	{name: "control-write", what: "write a file in the root", command: "echo fine > made && cat made && $P probe nothing && git status --short >/dev/null", control: true},
	{name: "control-localhost", what: "listen on localhost", command: "$P probe listen 18080", control: true},
	{name: "write-outside", what: "write beside the root", command: "echo evil > $F/outside/o.txt", file: "outside/o.txt"},
	{name: "write-home", what: "write to the home folder", command: "echo evil > $HOME/.profile", file: "home/.profile"},
	{name: "hardlink-outside", what: "link a file from outside and write to it", command: "ln $F/outside/o.txt l; echo evil >> l", file: "outside/o.txt"},
	{name: "git-hook", what: "plant a git hook", command: "echo evil > .git/hooks/pre-commit", file: "w/.git/hooks/pre-commit"},
	{name: "git-config", what: "change the git configuration", command: "git config core.fsmonitor evil", file: "w/.git/config"},
	{name: "git-move", what: "move .git away and make another", command: "mv .git g; mkdir .git; echo evil > .git/config", file: "w/.git/config"},
	{name: "git-commondir", what: "lead git to another configuration", command: "cp -r .git e; echo ../evil > .git/commondir", file: "w/.git/commondir"},
	{name: "lictor-settings", what: "make lictor's settings file", command: "mkdir -p .lictor; echo evil > .lictor/settings.json", file: "w/.lictor/settings.json"},
	{name: "agent-settings", what: "make an agent's settings file", command: "mkdir -p .claude; echo evil > .claude/settings.json", file: "w/.claude/settings.json"},
	{name: "read-key", what: "read a private key", command: "cat $HOME/.ssh/id_rsa"},
	{name: "move-key", what: "move the key's folder and read it", command: "mv $HOME/.ssh $HOME/x; cat $HOME/x/id_rsa; chmod 755 $HOME/.ssh; cat $HOME/.ssh/id_rsa"},
	{name: "read-cloud", what: "read cloud credentials", command: "cat $HOME/.aws/credentials"},
	{name: "read-trust", what: "read lictor's trust file", command: "cat $HOME/.lictor/trust.json"},
	{name: "root-links", what: "reach the host's tree through /proc", command: "cat /proc/self/root$HOME/.ssh/id_rsa /proc/1/root$HOME/.ssh/id_rsa /proc/$VPID/root$HOME/.ssh/id_rsa"},
	{name: "environment", what: "read the caller's environment", command: "env; tr '\\0' '\\n' </proc/1/environ; cat /proc/$VPID/environ"},
	{name: "descriptors", what: "use inherited descriptors", command: "$P probe fds"},
	{name: "kill-host", what: "end a host process", command: "kill -9 $VPID", file: "victim", gone: true},
	{name: "trace-host", what: "trace and read a host process", command: "$P probe ptrace $VPID; $P probe vmread $VPID; $P probe procmem $VPID"},
	{name: "helper-memory", what: "write to the helper's memory", command: "$P probe procmem 1"},
	{name: "tcp", what: "reach a host service over TCP", command: "$P probe dial tcp 127.0.0.1:$PORT; $P probe mptcp $PORT"},
	{name: "network", what: "send a packet to another machine", command: "$P probe udp 10.11.12.13:53"},
	{name: "unix-socket", what: "reach a host service through its socket", command: "$P probe dial unix $F/run/host.sock; $P probe dial unix @lictor-verify"},
	{name: "socket-kinds", what: "open sockets of other kinds", command: "$P probe socket 40 1 0; $P probe socket 17 3 768; $P probe socket 16 3 12; $P probe socket 0x100000001 1 0; $P probe socketpair 1 2 0"},
	{name: "other-entries", what: "make system calls through other entries", command: "$P probe int80; $P probe x32; $P probe clone3"},
	{name: "mounts", what: "mount, unmount and remount", command: "$P probe mount $F/w/src; $P probe umount $HOME/.ssh; $P probe remount $F/w/.git/config; $P probe mountsetattr $F/w/.git/config"},
	{name: "namespaces", what: "make namespaces", command: "$P probe userns; $P probe unsharemount $F/w/.git/config"},
	{name: "terminal", what: "type into a terminal", command: "$P probe tiocsti"},
	{name: "devices", what: "make a device file", command: "$P probe mknod $F/w/mem"},
	{name: "handles", what: "open a file by its handle", command: "$P probe handle"},
	{name: "io_uring", what: "use io_uring", command: "$P probe iouring"},
	{name: "set-user-id", what: "leave a set-user-ID program behind", command: "$P probe suid $F/w/sf"},
	{name: "kernel-settings", what: "change the kernel's settings", command: "echo evil > /proc/sys/kernel/core_pattern && echo ESCAPED; mkdir /sys/fs/cgroup/lictor-verify && echo ESCAPED"},
	{name: "shared-memory", what: "see the host's shared memory", command: "ls /dev/shm/lictor-verify-* && echo ESCAPED"},
}
