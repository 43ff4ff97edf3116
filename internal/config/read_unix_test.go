//go:build unix

package config

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// within fails the test if f has not returned after a second: a pipe nobody
// writes to must never make lictor wait.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("still waiting after ten seconds")
	}
}

func TestReadNamesWhatIsNoFile(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(t *testing.T, file string)
		fault string
	}{
		"pipe":   {func(t *testing.T, file string) { require.NoError(t, unix.Mkfifo(file, 0o644)) }, "is a pipe"},
		"folder": {func(t *testing.T, file string) { require.NoError(t, os.Mkdir(file, 0o755)) }, "is a folder"},
		"socket": {func(t *testing.T, file string) {
			listener, err := net.Listen("unix", file)
			require.NoError(t, err)
			t.Cleanup(func() { listener.Close() })
		}, "is a socket"},
		"dangling link":    {func(t *testing.T, file string) { require.NoError(t, os.Symlink("nowhere", file)) }, "is a symbolic link"},
		"link to itself":   {func(t *testing.T, file string) { require.NoError(t, os.Symlink("s.json", file)) }, "is a symbolic link"},
		"link to a device": {func(t *testing.T, file string) { require.NoError(t, os.Symlink("/dev/zero", file)) }, "is a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "l") // short: a socket's path is limited
			require.NoError(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			require.NoError(t, os.Mkdir(filepath.Join(dir, ".lictor"), 0o755))
			file := filepath.Join(dir, ".lictor", "s.json")
			c.make(t, file)
			within(t, func() {
				_, err := ReadProjectFile(dir, ".lictor/s.json")
				require.ErrorContains(t, err, c.fault)
				require.ErrorContains(t, err, file)
			})
		})
	}
}

func TestReadUserFileRefusesDevicesBehindLinks(t *testing.T) {
	file := filepath.Join(realTemp(t), "policy.json")
	require.NoError(t, os.Symlink("/dev/zero", file))
	within(t, func() {
		_, err := ReadUserFile(file)
		require.ErrorContains(t, err, "is a device")
	})
}

func TestReadRefusesALinkedOrMissingFolder(t *testing.T) {
	dir := realTemp(t)
	write(t, filepath.Join(dir, "other", "settings.json"), "{}")
	require.NoError(t, os.Symlink("other", filepath.Join(dir, ".lictor")))
	_, err := ReadProjectFile(dir, ".lictor/settings.json")
	require.ErrorContains(t, err, ".lictor is a symbolic link, which is not followed")

	require.NoError(t, os.Remove(filepath.Join(dir, ".lictor")))
	write(t, filepath.Join(dir, ".lictor"), "a file")
	_, err = ReadProjectFile(dir, ".lictor/settings.json")
	require.ErrorContains(t, err, ".lictor is not a folder")
}

func TestManagedFileMustBeOutOfOthersReach(t *testing.T) {
	owner := func(file string, uid int) func(*testing.T) {
		return func(t *testing.T) {
			if os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			require.NoError(t, os.Chown(file, uid, -1))
		}
	}
	mode := func(file string, mode os.FileMode) func(*testing.T) {
		return func(t *testing.T) { require.NoError(t, os.Chmod(file, mode)) }
	}
	top := realTemp(t)
	dir := filepath.Join(top, "etc", "lictor")
	file := filepath.Join(dir, "policy.json")
	for name, c := range map[string]struct {
		change func(*testing.T)
		fault  string
	}{
		"as it should be":        {func(*testing.T) {}, ""},
		"file writable by all":   {mode(file, 0o646), "is writable by others"},
		"file writable by group": {mode(file, 0o664), "is writable by its group"},
		"folder writable by all": {mode(dir, 0o757), "its folder " + dir + " is writable by others"},
		"parent writable by all": {mode(filepath.Dir(dir), 0o777), "is writable by others"},
		"sticky parent":          {mode(filepath.Dir(dir), 0o777|os.ModeSticky), ""},
		"somebody else's file":   {owner(file, 12345), "belongs to user 12345"},
		"somebody else's folder": {owner(dir, 12345), "its folder " + dir + " belongs to user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(filepath.Join(top, "etc")))
			write(t, file, "{}")
			c.change(t)
			_, err := ReadManagedFile(file, true, true)
			if c.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.fault)
			require.ErrorContains(t, err, file)
		})
	}
}

func TestManagedFileThroughALinkIsCheckedThere(t *testing.T) {
	top := realTemp(t)
	loose := filepath.Join(top, "loose")
	write(t, filepath.Join(loose, "policy.json"), "{}")
	require.NoError(t, os.Chmod(loose, 0o777))
	link := filepath.Join(top, "policy.json")
	require.NoError(t, os.Symlink(filepath.Join(loose, "policy.json"), link))
	_, err := ReadManagedFile(link, true, true)
	require.ErrorContains(t, err, loose+" is writable by others")
}

func TestManagedFileMissing(t *testing.T) {
	file := filepath.Join(realTemp(t), "policy.json")
	text, err := ReadManagedFile(file, false, false)
	require.NoError(t, err)
	require.Nil(t, text)
	_, err = ReadManagedFile(file, true, true)
	require.ErrorContains(t, err, file, "a file that somebody named must exist")
}
