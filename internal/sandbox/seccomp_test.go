package sandbox

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// simulate runs a filter as the kernel does.
func simulate(t *testing.T, prog []byte, arch uint32, nr uint32, args ...uint64) uint32 {
	t.Helper()
	var data [64]byte
	binary.LittleEndian.PutUint32(data[0:], nr)
	binary.LittleEndian.PutUint32(data[4:], arch)
	for i, a := range args {
		binary.LittleEndian.PutUint64(data[16+8*i:], a)
	}
	var a uint32
	for pc := 0; pc < len(prog)/8; pc++ {
		in := prog[8*pc:]
		code, jt, jf, k := binary.LittleEndian.Uint16(in), int(in[2]), int(in[3]), binary.LittleEndian.Uint32(in[4:])
		jump := func(c bool) {
			if c {
				pc += jt
			} else {
				pc += jf
			}
		}
		switch code {
		case opLoad:
			require.Zero(t, k%4)
			a = binary.LittleEndian.Uint32(data[k:])
		case opJump:
			pc += int(k)
		case opEq:
			jump(a == k)
		case opGe:
			jump(a >= k)
		case opSet:
			jump(a&k != 0)
		case 0x54:
			a &= k
		case opRet:
			return k
		default:
			t.Fatalf("unknown instruction %#x", code)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestFilterEveryCall(t *testing.T) {
	for arch, audit := range map[string]uint32{"amd64": auditAMD64, "arm64": auditARM64} {
		prog, err := seccompFilter(arch, filterOptions{})
		require.NoError(t, err)
		assert.Less(t, len(prog)/8, 4096)
		want := map[uint32]uint32{}
		number := func(c call) int32 {
			if arch == "amd64" {
				return c.amd64
			}
			return c.arm64
		}
		for _, c := range deniedCalls {
			if n := number(c); n >= 0 {
				want[uint32(n)] = retErrno | errnoPerm
			}
		}
		for _, c := range missingCalls {
			if n := number(c); n >= 0 {
				want[uint32(n)] = retErrno | errnoNoSys
			}
		}
		special := map[uint32]bool{}
		for c := range argumentCalls(filterOptions{}) {
			if n := number(c); n >= 0 {
				special[uint32(n)] = true
				assert.NotContains(t, want, uint32(n), "%s is in two tables", c.name)
			}
		}
		for nr := range uint32(1000) {
			if special[nr] {
				continue
			}
			w, ok := want[nr]
			if !ok {
				w = retAllow
			}
			assert.Equal(t, w, simulate(t, prog, audit, nr), "%s %d", arch, nr)
		}
		other := uint32(0x40000003) // the 32-bit entry
		assert.EqualValues(t, uint32(retKill), simulate(t, prog, other, 1))
		assert.EqualValues(t, retErrno|errnoNoSys, simulate(t, prog, audit, 0x40000000|41))
		assert.EqualValues(t, retErrno|errnoNoSys, simulate(t, prog, audit, 0xffffffff))
	}
	_, err := seccompFilter("riscv64", filterOptions{})
	assert.ErrorIs(t, err, errArch)
}

func TestFilterArguments(t *testing.T) {
	const high = 1 << 32
	const perm, family = retErrno | errnoPerm, retErrno | errnoNoFamily
	for _, c := range []struct {
		name string
		o    filterOptions
		nr   uint32
		args []uint64
		want uint32
	}{
		{"plain fork", filterOptions{}, 56, []uint64{17}, retAllow},
		{"thread", filterOptions{}, 56, []uint64{0x3d0f00}, retAllow},
		{"new user namespace", filterOptions{}, 56, []uint64{0x10000011}, perm},
		{"new mount namespace", filterOptions{}, 56, []uint64{0x20011}, perm},
		{"new network namespace", filterOptions{}, 56, []uint64{0x40000011}, perm},
		{"TIOCSTI, CVE-2017-5226", filterOptions{}, 16, []uint64{0, 0x5412}, perm},
		{"TIOCSTI with a high bit, CVE-2019-10063", filterOptions{}, 16, []uint64{0, 0x5412 | high}, perm},
		{"TIOCLINUX, CVE-2023-28100", filterOptions{}, 16, []uint64{0, 0x541c}, perm},
		{"TIOCGWINSZ", filterOptions{}, 16, []uint64{0, 0x5413}, retAllow},
		{"unix socket", filterOptions{}, 41, []uint64{1, 1, 0}, family},
		{"unix socket with a high bit", filterOptions{}, 41, []uint64{1 | high, 1, 0}, family},
		{"unix socket on request", filterOptions{unixSockets: true}, 41, []uint64{1, 1, 0}, retAllow},
		{"inet", filterOptions{}, 41, []uint64{2, 1, 0}, retAllow},
		{"inet6", filterOptions{}, 41, []uint64{10, 1, 0}, retAllow},
		{"inet without a namespace", filterOptions{noInternet: true}, 41, []uint64{2, 1, 262}, family},
		{"inet6 without a namespace", filterOptions{noInternet: true}, 41, []uint64{10, 2, 0}, family},
		{"netlink route", filterOptions{noInternet: true}, 41, []uint64{16, 3, 0}, retAllow},
		{"netlink netfilter", filterOptions{}, 41, []uint64{16, 3, 12}, family},
		{"vsock", filterOptions{}, 41, []uint64{40, 1, 0}, family},
		{"packet", filterOptions{}, 41, []uint64{17, 3, 768}, family},
		{"stream pair", filterOptions{}, 53, []uint64{1, 1 | 0x80000, 0}, retAllow},
		{"seqpacket pair", filterOptions{}, 53, []uint64{1, 5, 0}, retAllow},
		{"datagram pair", filterOptions{}, 53, []uint64{1, 2, 0}, perm},
		{"raw pair", filterOptions{}, 53, []uint64{1, 3 | 0x800, 0}, perm},
		{"inet pair", filterOptions{}, 53, []uint64{2, 1, 0}, family},
		{"personality query", filterOptions{}, 135, []uint64{0xffffffff}, retAllow},
		{"personality", filterOptions{}, 135, []uint64{0x0040000}, perm},
		{"chmod", filterOptions{}, 90, []uint64{0, 0o755}, retAllow},
		{"chmod u+s", filterOptions{}, 90, []uint64{0, 0o4755}, perm},
		{"chmod g+s", filterOptions{}, 90, []uint64{0, 0o2755}, retAllow},
		{"fchmodat u+s", filterOptions{}, 268, []uint64{0, 0, 0o4755}, perm},
		{"open for reading, mode is garbage", filterOptions{}, 257, []uint64{0, 0, 0, 0o7777}, retAllow},
		{"create", filterOptions{}, 257, []uint64{0, 0, 0x41, 0o644}, retAllow},
		{"create u+s", filterOptions{}, 257, []uint64{0, 0, 0x41, 0o4755}, perm},
		{"temporary file u+s", filterOptions{}, 257, []uint64{0, 0, 0x410001, 0o4755}, perm},
	} {
		prog, err := seccompFilter("amd64", c.o)
		require.NoError(t, err)
		assert.Equal(t, c.want, simulate(t, prog, auditAMD64, c.nr, c.args...), c.name)
	}
}
