package pathguard

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// asUser runs f without root's right to search every folder. The thread that
// gave the right away is never used again.
func asUser(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // not unlocked: the thread ends with the goroutine
		if err := unix.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

func TestNoSearchPermission(t *testing.T) {
	root := realTemp(t)
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	tree(t, root, "locked/in -> ../open", "locked/x", "open/y", "via -> locked/x")
	require.NoError(t, os.Chmod(root+"/locked", 0))
	t.Cleanup(func() { os.Chmod(root+"/locked", 0o755) })
	g := newGuard(t, root)
	asUser(t, func() {
		for _, text := range []string{"locked/x", "locked/in/y", "locked/none", "via", "locked/../open/y/../../locked/x"} {
			p, err := g.Resolve(text, "")
			var e *ResolveError
			if assert.ErrorAs(t, err, &e, text) {
				assert.ErrorIs(t, err, syscall.EACCES)
				assert.Contains(t, err.Error(), root+"/locked/")
			}
			assert.False(t, p.RealInside, text)
		}
		p, err := g.Resolve("locked", "") // the folder itself can be named
		assert.NoError(t, err)
		assert.True(t, p.Inside && p.RealInside)
	})
}

// The links of /proc lead somewhere else in every process. Nothing behind one
// is inside, even where its text says so.
func TestMagicLinks(t *testing.T) {
	root := realTemp(t)
	tree(t, root, "a", "p -> /proc/self/root"+root, "cwd -> /proc/self/cwd", "stdin -> /dev/stdin", "proc -> /proc")
	t.Chdir(root)
	f, err := os.Open("a")
	require.NoError(t, err)
	defer f.Close()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	pid, fd, pipe := strconv.Itoa(os.Getpid()), fmt.Sprint(f.Fd()), fmt.Sprint(r.Fd())
	g := newGuard(t, root)
	for _, text := range []string{
		"/proc/self/cwd", "/proc/self/cwd/a", "/proc/self/cwd/../x", "/proc/self/root" + root + "/a", "/proc/" + pid + "/root" + root, "/proc/" + pid + "/cwd/a",
		"/proc/thread-self/cwd", "/proc/self/fd/" + fd, "/proc/self/fd/" + pipe, "/dev/fd/" + fd, "/dev/stdin", "/proc/self/exe", "/proc/mounts",
		"p/a", "cwd/a", "stdin", "proc/self/cwd/a", "p/../a", "proc/self/../" + pid + "/cwd/a",
	} {
		p, err := g.Resolve(text, "")
		if err == nil {
			assert.False(t, p.RealInside, "%s: %+v", text, p)
			assert.Equal(t, p.Real, p.RealRel, text)
		}
		_, err = g.MustInside(text, "")
		assert.Error(t, err, text)
		assert.Empty(t, g.Filter([]string{text}, nil))
	}
	_, err = New("/proc/self/cwd")
	assert.ErrorAs(t, err, new(*RootError))
}
