//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestTrustFileMustBeTheUsersOwn(t *testing.T) {
	p := project(t)
	require.NoError(t, OpenTrust(p.Trust).Accept(p.Root, risk("a", "1")))
	for name, c := range map[string]struct {
		spoil func(t *testing.T)
		fault string
	}{
		"writable by others": {func(t *testing.T) { require.NoError(t, os.Chmod(p.Trust, 0o602)) }, "is writable by others"},
		"writable by group":  {func(t *testing.T) { require.NoError(t, os.Chmod(p.Trust, 0o620)) }, "is writable by others"},
		"somebody else's": {func(t *testing.T) {
			if os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			require.NoError(t, os.Chown(p.Trust, 12345, -1))
		}, "belongs to user 12345"},
		"a link": {func(t *testing.T) {
			require.NoError(t, os.Rename(p.Trust, p.Trust+".2"))
			require.NoError(t, os.Symlink(p.Trust+".2", p.Trust))
		}, "is a symbolic link"},
		"a pipe": {func(t *testing.T) {
			require.NoError(t, os.Remove(p.Trust))
			require.NoError(t, unix.Mkfifo(p.Trust, 0o600))
		}, "is a pipe"},
		"a folder": {func(t *testing.T) {
			require.NoError(t, os.Remove(p.Trust))
			require.NoError(t, os.Mkdir(p.Trust, 0o700))
		}, "is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(filepath.Dir(p.Trust)))
			require.NoError(t, OpenTrust(p.Trust).Accept(p.Root, risk("a", "1")))
			c.spoil(t)
			within(t, func() {
				trust := OpenTrust(p.Trust)
				require.ErrorContains(t, trust.Broken(), c.fault)
				_, ok := trust.Pin(p.Root)
				assert.False(t, ok)
			})
		})
	}
}

func TestALockThatIsHeldIsAnErrorNotAHang(t *testing.T) {
	p := project(t)
	require.NoError(t, privateFolder(filepath.Dir(p.Trust)))
	unlock, err := lockFile(p.Trust + ".lock")
	require.NoError(t, err)
	defer unlock()
	_, err = lockFileFor(p.Trust+".lock", 20_000_000)
	require.ErrorContains(t, err, "another process holds it")
	// A pipe in its place neither.
	pipe := filepath.Join(p.Home, "pipe.lock")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	within(t, func() { _, _ = lockFileFor(pipe, 1) })
}
