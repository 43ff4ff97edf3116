package pathguard

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// builder turns fuzz bytes into a tree and a path. Few names make many meetings.
type builder struct{ data []byte }

func (b *builder) next(n int) int {
	if len(b.data) == 0 {
		return 0
	}
	v := int(b.data[0]) % n
	b.data = b.data[1:]
	return v
}

var fuzzNames = []string{"a", "b", "c", "d", "..", ".", "", "~", "new"}

func (b *builder) path(max int) string {
	segs := make([]string, 1+b.next(max))
	for i := range segs {
		segs[i] = fuzzNames[b.next(len(fuzzNames))]
	}
	return strings.Join(segs, "/")
}

// name is a clean path of one to three plain segments.
func (b *builder) name() string {
	p := fuzzNames[b.next(4)]
	for range b.next(3) {
		p += "/" + fuzzNames[b.next(4)]
	}
	return p
}

// FuzzResolve builds a tree of folders, files and links, and compares where a
// path leads with the kernel: openat2 on the path, then the name of the open
// file. Where the path does not exist, the last component is created through
// the path, as a tool would, and the new file must lie where Resolve said.
func FuzzResolve(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x08folders and links, in any order\x00\x01\x02\x03\x04\x05"))
	for i := range 12 {
		seed := make([]byte, 64)
		for j := range seed {
			seed[j] = byte(j*(2*i+3) + i*i)
		}
		f.Add(seed)
	}
	base := realTemp(f)
	f.Fuzz(func(t *testing.T, data []byte) { checkTree(t, base, data) })
}

// TestResolveAgainstKernel is the same with seeded random trees, so that every
// run of the tests walks through many of them.
func TestResolveAgainstKernel(t *testing.T) {
	base := realTemp(t)
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 800
	if testing.Short() {
		rounds = 100
	}
	for i := range rounds {
		data := make([]byte, 96)
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		if !t.Run(strconv.Itoa(i), func(t *testing.T) { checkTree(t, base, data) }) {
			t.Fatalf("round %d: %q", i, data)
		}
	}
}

// checkTree builds the tree of data below base and checks its path.
func checkTree(t *testing.T, base string, data []byte) {
	top, err := os.MkdirTemp(base, "t")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(top) })
	tree(t, top, "root/", "out/")
	root := top + "/root"
	b := &builder{data: data}
	for range b.next(16) {
		b.entry(top)
	}
	text, cwd := b.path(7), ""
	if b.next(2) == 1 {
		cwd = b.name()
	}
	if strings.HasPrefix(text, "~") {
		text = "./" + text
	}
	g := newGuard(t, root)
	p, err := g.Resolve(text, cwd)
	checkText(t, g, text, cwd, err)
	full := root + "/" + cwd + "/" + text
	if strings.HasPrefix(text, "/") {
		full = text
	}
	checkKernel(t, top, full, p.Real, p.RealInside, root, err)
}

// entry makes one folder, file or link; an attempt below a file may fail.
func (b *builder) entry(top string) {
	at := top + "/" + []string{"root", "root", "root", "out"}[b.next(4)] + "/" + b.name()
	os.MkdirAll(path.Dir(at), 0o755)
	switch b.next(6) {
	case 0:
		os.Mkdir(at, 0o755)
	case 1:
		os.WriteFile(at, nil, 0o644)
	case 2:
		os.Symlink(b.path(5), at)
	case 3:
		os.Symlink(top+"/"+[]string{"root", "out", "none"}[b.next(3)]+"/"+b.path(4), at)
	case 4:
		os.Symlink("../"+b.path(4), at)
	case 5:
		os.Symlink(b.name(), at)
	}
}

// checkText checks what holds for every answer.
func checkText(t *testing.T, g *Guard, text, cwd string, err error) {
	p, again := g.Resolve(text, cwd)
	require.Equal(t, err == nil, again == nil)
	require.Equal(t, path.Clean(p.Abs), p.Abs)
	_, inside := under(p.Abs, g.root, false)
	require.Equal(t, inside, p.Inside)
	if err == nil {
		require.Equal(t, path.Clean(p.Real), p.Real)
		// The real path is real: resolving it again leads nowhere else.
		q, err := g.Resolve(p.Real, "")
		require.NoError(t, err)
		require.Equal(t, p.Real, q.Real)
		require.False(t, q.Moved, "%+v", q)
	}
}

// checkKernel compares with the kernel's own walk.
func checkKernel(t *testing.T, top, full, real string, realInside bool, root string, err error) {
	open := func(flags uint64) (string, error) {
		fd, err := unix.Openat2(unix.AT_FDCWD, full, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Mode: map[bool]uint64{true: 0o644}[flags&unix.O_CREAT != 0]})
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		require.NoError(t, err)
		return name, nil
	}
	kernel, kerr := open(unix.O_PATH)
	if errors.Is(kerr, syscall.ENOENT) && strings.HasPrefix(real, top+"/") {
		kernel, kerr = open(unix.O_CREAT | unix.O_WRONLY)
	}
	switch {
	case kerr == nil && err == nil:
		require.Equal(t, kernel, real, full)
		_, inside := under(kernel, root, false)
		require.Equal(t, inside, realInside, full)
	case kerr == nil:
		// Only the second reading may be refused where the kernel goes on.
		require.True(t, errors.Is(err, ErrAmbiguous) || errors.Is(err, syscall.ELOOP), "%s: %v", full, err)
	case errors.Is(kerr, syscall.ELOOP):
		require.ErrorIs(t, err, syscall.ELOOP)
	}
}
