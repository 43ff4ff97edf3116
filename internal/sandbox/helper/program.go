// Package helper is the part of a sandbox that runs inside it: a process that
// was started from this program's own binary, confines itself step by step as
// a Program says, starts the command as its child, and reports back.
//
// It is started by internal/boot before the rest of the binary is initialised,
// so it imports nothing but the syscall layer: no os, no fmt, no JSON. That is
// why a Program has a wire format of its own, and why the helper decides
// nothing: what to mount, mask and filter is worked out by internal/sandbox.
package helper

import "errors"

// Env is the environment variable that makes a process a helper. Its value is
// the role, one of the Role constants.
const Env = "LICTOR_BOOT"

// The roles of a re-executed process.
const (
	// RoleSandbox runs the Program in descriptor ProgramFD.
	RoleSandbox = "sandbox"
	// RoleInner is the second stage of the Landlock executor: it confines itself
	// and becomes the command.
	RoleInner = "inner"
	// RoleProbe is a small test program that makes raw system calls.
	RoleProbe = "probe"
)

// Descriptors that a helper inherits.
const (
	ProgramFD = 3
	ControlFD = 4
)

// Message types on the control socket (SOCK_SEQPACKET, one message a packet).
const (
	// MsgError: the sandbox could not be built: stage NUL path NUL errno.
	MsgError = 'E'
	// MsgCommand: the command could not be started: program NUL errno.
	MsgCommand = 'C'
	// MsgStarted: the command runs.
	MsgStarted = 'S'
	// MsgExit: the command ended: its wait status, little endian, and 1 if no other
	// process is left in the sandbox.
	MsgExit = 'X'
	// MsgListener carries the proxy's listening socket.
	MsgListener = 'L'
	// MsgTerminal carries the master side of the command's terminal.
	MsgTerminal = 'T'
	// MsgGo is sent to the helper when it may go on (FlagWait).
	MsgGo = 'G'
	// MsgKill asks a supervising helper to end everything.
	MsgKill = 'K'
)

// Flags of a Program.
const (
	// FlagMounts: make private and rearrange the mount namespace.
	FlagMounts = 1 << iota
	// FlagLoopback: bring up the loopback interface.
	FlagLoopback
	// FlagProxy: listen on 127.0.0.1:ProxyPort and hand the socket out.
	FlagProxy
	// FlagTerminal: give the command a terminal of its own and hand out the master.
	FlagTerminal
	// FlagWait: wait for MsgGo before anything else.
	FlagWait
	// FlagInit: the helper is process 1 of a PID namespace; when it exits the
	// kernel ends everything else.
	FlagInit
	// FlagSupervise: there is no PID namespace; the helper stays outside, is
	// subreaper, and ends every descendant itself.
	FlagSupervise
	// FlagMute: no output of the helper's own must be expected (reserved).
	FlagMute
)

// Op codes of mount operations.
const (
	// OpBind attaches a copy of Source (or Path) at Path.
	OpBind = iota + 1
	// OpTmpfs attaches an empty in-memory folder.
	OpTmpfs
	// OpNull attaches a /dev/null that cannot be opened, to hide a file.
	OpNull
	// OpDev attaches a minimal /dev.
	OpDev
	// OpProc attaches a fresh, read-only /proc.
	OpProc
)

// Attributes of a mount operation.
const (
	AttrReadOnly = 1 << iota
	// AttrLink: Path is a symbolic link and is pinned itself, not followed.
	AttrLink
	// AttrOptional: a missing Path is no error.
	AttrOptional
)

// Op is one mount operation.
type Op struct {
	Code uint32
	Attr uint32
	Mode uint32
	Size uint32
	// Path is where the operation takes effect, Source where its content comes
	// from if that is another place.
	Path, Source string
	// Dirs are folders to create in an in-memory folder, as paths below it.
	Dirs []string
	// Files are empty files to create in it, as mount points.
	Files []string
}

// Rule is one Landlock rule: the access rights below a path.
type Rule struct {
	Path   string
	Access uint64
}

// Limit is one resource limit.
type Limit struct {
	Resource uint32
	Value    uint64
}

// Program is everything that a helper does, in order.
type Program struct {
	Flags     uint32
	ProxyPort uint32
	KeepCaps  uint64
	// HandledFS, HandledNet and Scoped are the Landlock ruleset; all zero means
	// no Landlock.
	HandledFS, HandledNet, Scoped uint64
	Cwd                           string
	// Umask is the file mode mask plus one, 0 to leave it.
	Umask  uint32
	Argv   []string
	Env    []string
	Ops    []Op
	Rules  []Rule
	Limits []Limit
	// Filter is the seccomp program as the kernel wants it.
	Filter []byte
}

const magic = "lictor sandbox 1"

// ErrProgram means that a byte string is not a Program.
var ErrProgram = errors.New("not a sandbox program")

// Encode returns the wire form of p.
func (p *Program) Encode() []byte {
	e := encoder(make([]byte, 0, 4096+len(p.Filter)))
	e = append(e, magic...)
	e.u32(p.Flags)
	e.u32(p.ProxyPort)
	e.u64(p.KeepCaps)
	e.u64(p.HandledFS)
	e.u64(p.HandledNet)
	e.u64(p.Scoped)
	e.u32(p.Umask)
	e.str(p.Cwd)
	e.strs(p.Argv)
	e.strs(p.Env)
	e.u32(uint32(len(p.Ops)))
	for _, o := range p.Ops {
		e.u32(o.Code)
		e.u32(o.Attr)
		e.u32(o.Mode)
		e.u32(o.Size)
		e.str(o.Path)
		e.str(o.Source)
		e.strs(o.Dirs)
		e.strs(o.Files)
	}
	e.u32(uint32(len(p.Rules)))
	for _, r := range p.Rules {
		e.u64(r.Access)
		e.str(r.Path)
	}
	e.u32(uint32(len(p.Limits)))
	for _, l := range p.Limits {
		e.u32(l.Resource)
		e.u64(l.Value)
	}
	e.str(string(p.Filter))
	return e
}

// Decode reads a Program. Anything but exactly one Program is ErrProgram.
func Decode(b []byte) (*Program, error) {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, ErrProgram
	}
	d := decoder{b: b[len(magic):]}
	p := &Program{}
	p.Flags, p.ProxyPort, p.KeepCaps = d.u32(), d.u32(), d.u64()
	p.HandledFS, p.HandledNet, p.Scoped = d.u64(), d.u64(), d.u64()
	p.Umask, p.Cwd, p.Argv, p.Env = d.u32(), d.str(), d.strs(), d.strs()
	for n := d.count(32); n > 0; n-- {
		o := Op{Code: d.u32(), Attr: d.u32(), Mode: d.u32(), Size: d.u32(), Path: d.str(), Source: d.str()}
		o.Dirs, o.Files = d.strs(), d.strs()
		p.Ops = append(p.Ops, o)
	}
	for n := d.count(12); n > 0; n-- {
		p.Rules = append(p.Rules, Rule{Access: d.u64(), Path: d.str()})
	}
	for n := d.count(12); n > 0; n-- {
		p.Limits = append(p.Limits, Limit{Resource: d.u32(), Value: d.u64()})
	}
	p.Filter = []byte(d.str())
	if d.bad || len(d.b) != 0 {
		return nil, ErrProgram
	}
	return p, nil
}

type encoder []byte

func (e *encoder) u32(v uint32) { *e = append(*e, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
func (e *encoder) u64(v uint64) {
	e.u32(uint32(v))
	e.u32(uint32(v >> 32))
}

func (e *encoder) str(s string) {
	e.u32(uint32(len(s)))
	*e = append(*e, s...)
}

func (e *encoder) strs(s []string) {
	e.u32(uint32(len(s)))
	for _, x := range s {
		e.str(x)
	}
}

type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad = true
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) u32() uint32 {
	if v := d.take(4); v != nil {
		return uint32(v[0]) | uint32(v[1])<<8 | uint32(v[2])<<16 | uint32(v[3])<<24
	}
	return 0
}

func (d *decoder) u64() uint64 {
	low := d.u32()
	return uint64(low) | uint64(d.u32())<<32
}

func (d *decoder) str() string { return string(d.take(int(d.u32()))) }

// count reads a number of elements of at least size bytes each, so that a lying
// length cannot make the decoder allocate.
func (d *decoder) count(size int) int {
	n := int(d.u32())
	if d.bad || n > len(d.b)/size {
		d.bad = d.bad || n > 0
		return 0
	}
	return n
}

func (d *decoder) strs() []string {
	n := d.count(4)
	if n == 0 {
		return nil
	}
	s := make([]string, 0, n)
	for ; n > 0; n-- {
		s = append(s, d.str())
	}
	return s
}
