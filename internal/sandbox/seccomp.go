package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// filterOptions are the few things in which filters differ.
//
// unixSockets allows new Unix sockets; noInternet refuses IPv4 and IPv6 sockets,
// for executors that have no network namespace.
type filterOptions struct{ unixSockets, noInternet bool }

// What a filter answers.
const (
	retAllow = 0x7fff0000
	retKill  = 0x80000000
	retErrno = 0x00050000
)

// Error numbers that filters give; the same on every Linux architecture.
const (
	errnoPerm     = 1
	errnoNoSys    = 38
	errnoNoFamily = 97
)

// Architecture words of the kernel's audit interface.
const (
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7
)

// insn is one instruction of classic BPF.
type insn struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// Operations of classic BPF that filters use.
const (
	opLoad = 0x20 // A = 32 bits of the call's data at k
	opJump = 0x05
	opEq   = 0x15
	opGe   = 0x35
	opSet  = 0x45
	opRet  = 0x06
)

// Offsets in struct seccomp_data. Only the low half of an argument is looked at:
// the kernel itself ignores the high half of an int, and a 64-bit compare would be
// passed by with a bit set up there (CVE-2019-10063, CVE-2019-7303).
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

func low(arg int) uint32 { return uint32(offArgs + 8*arg) }

func load(off uint32) insn { return insn{code: opLoad, k: off} }
func ret(v uint32) insn    { return insn{code: opRet, k: v} }
func fails(e uint32) insn  { return ret(retErrno | e) }

// refuseEqual answers errno if the argument is one of the values, and allows the
// rest.
func refuseEqual(arg int, errno uint32, values ...uint32) []insn {
	out := []insn{load(low(arg))}
	for i, v := range values {
		out = append(out, insn{opEq, uint8(len(values) - i), 0, v})
	}
	return append(out, ret(retAllow), fails(errno))
}

// refuseBits answers EPERM if the argument has any of the bits.
func refuseBits(arg int, bits uint32) []insn {
	return []insn{load(low(arg)), {opSet, 0, 1, bits}, fails(errnoPerm), ret(retAllow)}
}

// newNamespaces are the flags of clone that make a namespace.
const newNamespaces = 0x7e020000

// setUID is the set-user-ID bit of a file's mode. A file of this kind that a
// command leaves behind would lend the user's rights to any account of the machine.
const setUID = 0o4000

// creating are the flags with which open looks at its mode (O_CREAT, O_TMPFILE).
const creating = 0x400040

// Requests that type into a terminal or rewire it: TIOCSTI (CVE-2017-5226), TIOCLINUX
// (CVE-2023-28100), TIOCCONS, TIOCSETD.
var terminalRequests = []uint32{0x5412, 0x541c, 0x541d, 0x5423}

const (
	afUnix, afInet, afInet6, afNetlink = 1, 2, 10, 16
)

// socketRule allows IPv4, IPv6 and the routing part of netlink; AF_UNIX on request.
// Everything else (AF_VSOCK, AF_PACKET, AF_ALG …) does not exist inside.
func socketRule(o filterOptions) []insn {
	unix := fails(errnoNoFamily)
	if o.unixSockets {
		unix = ret(retAllow)
	}
	inet := ret(retAllow)
	if o.noInternet {
		inet = fails(errnoNoFamily)
	}
	return []insn{
		load(low(0)),
		{opEq, 6, 0, afInet},
		{opEq, 5, 0, afInet6},
		{opEq, 5, 0, afUnix},
		{opEq, 0, 5, afNetlink},
		load(low(2)),
		{opEq, 0, 3, 0},
		ret(retAllow), // routing questions
		inet,
		unix,
		fails(errnoNoFamily),
	}
}

// socketpairRule allows connected pairs only: one made of datagram sockets can
// still send to any named socket (SOCK_RAW is the same thing under another name).
func socketpairRule() []insn {
	return []insn{
		load(low(0)),
		{opEq, 0, 6, afUnix},
		load(low(1)),
		{0x54, 0, 0, 0xf}, // A &= 15
		{opEq, 2, 0, 1},   // SOCK_STREAM
		{opEq, 1, 0, 5},   // SOCK_SEQPACKET
		fails(errnoPerm),
		ret(retAllow),
		fails(errnoNoFamily),
	}
}

// openRule refuses to create a set-user-ID file.
func openRule(flags, mode int) []insn {
	return []insn{
		load(low(flags)),
		{opSet, 0, 3, creating},
		load(low(mode)),
		{opSet, 0, 1, setUID},
		fails(errnoPerm), ret(retAllow),
	}
}

// argumentCalls are the calls that depend on an argument.
func argumentCalls(o filterOptions) map[call][]insn {
	return map[call][]insn{
		{"clone", 56, 220}:       refuseBits(0, newNamespaces),
		{"ioctl", 16, 29}:        refuseEqual(1, errnoPerm, terminalRequests...),
		{"socket", 41, 198}:      socketRule(o),
		{"socketpair", 53, 199}:  socketpairRule(),
		{"personality", 135, 92}: {load(low(0)), {opEq, 2, 0, 0}, {opEq, 1, 0, 0xffffffff}, fails(errnoPerm), ret(retAllow)},
		{"chmod", 90, -1}:        refuseBits(1, setUID),
		{"fchmod", 91, 52}:       refuseBits(1, setUID),
		{"fchmodat", 268, 53}:    refuseBits(2, setUID),
		{"fchmodat2", 452, 452}:  refuseBits(2, setUID),
		{"mknod", 133, -1}:       refuseBits(1, setUID),
		{"mknodat", 259, 33}:     refuseBits(2, setUID),
		{"creat", 85, -1}:        refuseBits(1, setUID),
		{"open", 2, -1}:          openRule(1, 2),
		{"openat", 257, 56}:      openRule(2, 3),
	}
}

// errArch means that no filter is known for an architecture.
var errArch = errors.New("no system call filter for this architecture")

// seccompFilter returns the filter for an architecture ("amd64", "arm64") as the
// kernel wants it. It is a deny list with a known shape: another architecture's
// entry kills the process, the x32 entry does not exist, and a number that the
// tables do not name is allowed, because programs on newer kernels must work.
func seccompFilter(arch string, o filterOptions) ([]byte, error) {
	type key struct {
		arch string
		o    filterOptions
	}
	if b, ok := filters.Load(key{arch, o}); ok {
		return b.([]byte), nil
	}
	prog, err := assemble(arch, o)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, 8*len(prog))
	for _, i := range prog {
		b = binary.LittleEndian.AppendUint16(b, i.code)
		b = append(b, i.jt, i.jf)
		b = binary.LittleEndian.AppendUint32(b, i.k)
	}
	filters.Store(key{arch, o}, b)
	return b, nil
}

// filters remembers the few filters that there are. They are never changed.
var filters sync.Map

// leaf is one system call with what is answered to it.
type leaf struct {
	nr   uint32
	code []insn
}

func assemble(arch string, o filterOptions) ([]insn, error) {
	var audit uint32
	number := func(c call) int32 { return c.amd64 }
	switch arch {
	case "amd64":
		audit = auditAMD64
	case "arm64":
		audit, number = auditARM64, func(c call) int32 { return c.arm64 }
	default:
		return nil, fmt.Errorf("%w: %s", errArch, arch)
	}
	var leaves []leaf
	add := func(c call, code []insn) {
		if nr := number(c); nr >= 0 {
			leaves = append(leaves, leaf{uint32(nr), code})
		}
	}
	for _, c := range deniedCalls {
		add(c, []insn{fails(errnoPerm)})
	}
	for _, c := range missingCalls {
		add(c, []insn{fails(errnoNoSys)})
	}
	for c, code := range argumentCalls(o) {
		add(c, code)
	}
	slices.SortFunc(leaves, func(a, b leaf) int { return int(a.nr) - int(b.nr) })
	prog := []insn{
		load(offArch),
		{opEq, 1, 0, audit},
		ret(retKill),
		load(offNr),
		{opGe, 0, 1, 0x40000000},
		fails(errnoNoSys), // x32
	}
	return append(prog, tree(leaves)...), nil
}

// tree is a binary search over the numbers, so that a call that no table names is
// decided in seven steps.
func tree(l []leaf) []insn {
	if len(l) == 1 {
		out := []insn{{opEq, 0, uint8(len(l[0].code)), l[0].nr}}
		return append(append(out, l[0].code...), ret(retAllow))
	}
	mid := len(l) / 2
	left, right := tree(l[:mid]), tree(l[mid:])
	if len(left) <= 255 {
		return append(append([]insn{{opGe, uint8(len(left)), 0, l[mid].nr}}, left...), right...)
	}
	out := []insn{{opGe, 0, 1, l[mid].nr}, {opJump, 0, 0, uint32(len(left))}}
	return append(append(out, left...), right...)
}
