package shell

import "strings"

// program is what is known about a program by its base name.
type program struct {
	// wrap: it runs the command in its words.
	wrap *wrapper
	// do: it runs something in a way of its own.
	do action
	// inject: some of its options run programs, so an unquoted expansion among
	// its words may run anything.
	inject bool
	// files says which operands are files, hosts which are hosts.
	files *fileSpec
	hosts hostSpec
	// runs says which options run programs.
	runs *runSpec
}

// action is the special knowledge that a program needs.
type action uint8

const (
	doNothing action = iota
	doShell
	doForeignShell
	doEval
	doTrap
	doSource
	doSSH
	doXargs
	doParallel
	doFind
	doFd
	doGit
	doInterp
	doAwk
	doSed
	doVim
	doMake
	doDeferred
	doAlias
	doHash
	doEnable
	doBind
	doFc
	doZmodload
	doShopt
	doSet
	doCd
	doTest
	doPrintf
	doRead
	doDeclare
	doMapfile
	doCompgen
	doSu
	doDockerRun
	doRunner
	doScripts
	doTmux
	doEnv
	doSudo
)

// programs knows every program of the tables.
var programs = map[string]*program{}

func known(name string) *program {
	p := programs[name]
	if p == nil {
		p = new(program)
		programs[name] = p
	}
	return p
}

func init() {
	for i := range wrapperTable {
		for name := range strings.FieldsSeq(wrapperTable[i].names) {
			known(name).wrap = &wrapperTable[i].wrapper
		}
	}
	for _, t := range actionTable {
		for name := range strings.FieldsSeq(t.names) {
			known(name).do = t.do
		}
	}
	for name := range strings.FieldsSeq(injectable) {
		known(name).inject = true
	}
	for i := range fileTable {
		for name := range strings.FieldsSeq(fileTable[i].names) {
			known(name).files = &fileTable[i].fileSpec
		}
	}
	for i := range hostTable {
		for name := range strings.FieldsSeq(hostTable[i].names) {
			known(name).hosts = hostTable[i].hostSpec
		}
	}
	for i := range runTable {
		for name := range strings.FieldsSeq(runTable[i].names) {
			known(name).runs = &runTable[i].runSpec
		}
	}
	for i := range runnerTable {
		name, _, _ := strings.Cut(runnerTable[i].words, " ")
		runners[name] = append(runners[name], &runnerTable[i])
		if known(name).do == doNothing {
			known(name).do = doRunner
		}
	}
}

// lookup finds a program by its base name, also with a version behind it
// (python3.12, pip3, gcc-13).
func lookup(base string) *program {
	if p, ok := programs[base]; ok {
		return p
	}
	n := len(base)
	for n > 0 && (base[n-1] >= '0' && base[n-1] <= '9' || base[n-1] == '.' || base[n-1] == '-') {
		n--
	}
	if n > 0 && n < len(base) {
		if p, ok := programs[base[:n]]; ok {
			return p
		}
	}
	if head, _, ok := strings.Cut(base, "."); ok { // vim.basic
		return programs[head]
	}
	return nil
}

// wellKnown are the names that a file pattern in place of a program is tried on.
var wellKnown = strings.Fields("rm dd mv cp ln sh bash zsh dash curl wget nc ncat chmod chown mkfs shred kill pkill reboot shutdown " +
	"poweroff halt sudo su doas ssh scp rsync git docker kubectl python python3 perl ruby node php awk sed find xargs env tee crontab " +
	"systemctl mount umount truncate npm npx pip cat eval exec")
