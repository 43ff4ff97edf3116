//go:build unix

package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/daemon/client"
)

// A folder that somebody else could write to, or that is not the user's, is
// trusted by neither side.
func TestUnsafeFolder(t *testing.T) {
	for what, spoil := range map[string]func(t *testing.T, u *user){
		"run is open to the group": func(t *testing.T, u *user) { require.NoError(t, os.Chmod(client.Dir(u.home), 0o750)) },
		"run is open to everybody": func(t *testing.T, u *user) { require.NoError(t, os.Chmod(client.Dir(u.home), 0o777)) },
		".lictor can be written":   func(t *testing.T, u *user) { require.NoError(t, os.Chmod(filepath.Dir(client.Dir(u.home)), 0o777)) },
		"run is a link to a folder": func(t *testing.T, u *user) {
			require.NoError(t, os.Rename(client.Dir(u.home), u.home+"/x"))
			require.NoError(t, os.Symlink(u.home+"/x", client.Dir(u.home)))
		},
		"run is a file": func(t *testing.T, u *user) {
			require.NoError(t, os.Rename(client.Dir(u.home), u.home+"/x"))
			require.NoError(t, os.WriteFile(client.Dir(u.home), nil, 0o600))
		},
		"run belongs to another user": func(t *testing.T, u *user) {
			if os.Geteuid() != 0 {
				require.NoError(t, os.Chmod(client.Dir(u.home), 0o711)) // only root can give a folder away
				return
			}
			require.NoError(t, os.Chown(client.Dir(u.home), 65534, -1))
		},
	} {
		t.Run(what, func(t *testing.T) {
			u := newUser(t)
			u.settings(t, `{"permissions":{"deny":["bash(rm *)"]}}`)
			u.serve(t, Options{})
			u.decision(t, "ls")
			spoil(t, u)
			_, err := u.ask("claude-code", u.bash("ls"))
			var unsafe *client.UnsafeError
			assert.ErrorAs(t, err, &unsafe)
			assert.Error(t, Serve(context.Background(), Options{Home: u.home}))
			// The call itself is decided the cold way.
			r := u.run(t, u.bash("rm x"), "claude-code")
			decision, reason := decisionOf(t, []byte(r.stdout))
			assert.Equal(t, "deny", decision)
			assert.Contains(t, reason, "bash(rm *)")
			assert.Contains(t, r.stderr, "decided without the daemon")
			require.NoError(t, os.RemoveAll(client.Dir(u.home)))
			require.NoError(t, os.Chmod(filepath.Dir(client.Dir(u.home)), 0o700))
		})
	}
}

// asNobody starts this test binary as another user.
func asNobody(t *testing.T, role, socket string) *exec.Cmd {
	t.Helper()
	own := filepath.Join(filepath.Dir(program(t, "lictor")), "other")
	text, err := os.ReadFile(program(t, "lictor"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(own, text, 0o755))
	cmd := exec.Command(own)
	cmd.Dir = "/"
	cmd.Env = []string{"LICTOR_TEST_ROLE=" + role, "LICTOR_TEST_SOCKET=" + socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}

// A socket that another user serves is not asked, and another user is not
// answered, even where the folders would let them.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		// Only root can be two users. What the kernel says about the peer is looked at
		// all the same, for the one user that there is.
		u := newUser(t)
		u.serve(t, Options{})
		u.decision(t, "ls")
		return
	}
	t.Run("the socket is served by another user", func(t *testing.T) {
		u := newUser(t)
		u.settings(t, `{"permissions":{"deny":["bash(rm *)"]}}`)
		require.NoError(t, client.MakeDir(u.home))
		theirs, err := os.MkdirTemp("", "theirs")
		require.NoError(t, err)
		defer os.RemoveAll(theirs)
		require.NoError(t, os.Chown(theirs, 65534, 65534))
		cmd := asNobody(t, "listen", filepath.Join(theirs, "s"))
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "listening\n", line)
		require.NoError(t, os.Rename(filepath.Join(theirs, "s"), client.Socket(u.home)))
		_, err = u.ask("claude-code", u.bash("rm x"))
		var unsafe *client.UnsafeError
		require.ErrorAs(t, err, &unsafe)
		assert.Contains(t, err.Error(), "65534")
		r := u.run(t, u.bash("rm x"), "claude-code")
		decision, _ := decisionOf(t, []byte(r.stdout))
		assert.Equal(t, "deny", decision)
		assert.NotContains(t, r.stdout, "FORGED")
	})
	t.Run("the client is another user", func(t *testing.T) {
		u := newUser(t)
		u.serve(t, Options{})
		for dir := client.Dir(u.home); len(dir) >= len(filepath.Dir(u.home)); dir = filepath.Dir(dir) {
			require.NoError(t, os.Chmod(dir, 0o755))
		}
		require.NoError(t, os.Chmod(client.Socket(u.home), 0o777))
		cmd := asNobody(t, "dial", client.Socket(u.home))
		require.NoError(t, cmd.Run(), "0: connected and got nothing")
		require.NoError(t, os.Chmod(client.Dir(u.home), 0o700))
		assert.Equal(t, "1", metric(t, u, "lictor_connections_rejected_total"))
	})
}

// frame is a header with any length.
func frame(size uint32, rest ...byte) []byte {
	out := append([]byte("LCTR"), client.Version, byte(client.KindHook))
	return append(binary.BigEndian.AppendUint32(out, size), rest...)
}

// Bytes that are no request get no answer, and take nothing from other calls.
func TestBrokenFrames(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{})
	good, err := client.EncodeRequest(&client.Request{Kind: client.KindHook, Agent: "claude-code", Home: u.home, Stdin: u.bash("ls")})
	require.NoError(t, err)
	for what, bytes := range map[string][]byte{
		"nothing":            nil,
		"another protocol":   []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"a length of 4 GiB":  frame(0xffffffff),
		"more than allowed":  frame(client.MaxRequest + 1),
		"half a header":      good[:5],
		"half a frame":       good[:len(good)/2],
		"fields too long":    frame(9, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff),
		"another kind":       append(append([]byte("LCTR"), client.Version, 99), good[6:]...),
		"another version":    append(append([]byte("LCTR"), client.Version+1, 1), good[6:]...),
		"trailing bytes":     frame(uint32(len(good)-10+1), append(append([]byte{}, good[10:]...), 0)...),
		"too many variables": frame(4+1+16+4, append(make([]byte, 21), 0xff, 0xff, 0xff, 0xff)...),
	} {
		t.Run(what, func(t *testing.T) {
			c, err := net.Dial("unix", client.Socket(u.home))
			require.NoError(t, err)
			defer c.Close()
			_, _ = c.Write(bytes)
			require.NoError(t, c.(*net.UnixConn).CloseWrite())
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			got, _ := io.ReadAll(c)
			assert.Empty(t, got)
		})
	}
	got, _ := u.decision(t, "ls")
	assert.NotEmpty(t, got)
}

// Clients that send slowly, or do not read, are dropped and keep nobody waiting.
func TestSlowClients(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{})
	var idle []net.Conn
	for range 40 {
		c, err := net.Dial("unix", client.Socket(u.home))
		require.NoError(t, err)
		defer c.Close()
		_, err = c.Write(frame(1000, 'x'))
		require.NoError(t, err)
		idle = append(idle, c)
	}
	start := time.Now()
	u.decision(t, "ls")
	assert.Less(t, time.Since(start), requestTime)
	var all sync.WaitGroup
	for _, c := range idle {
		all.Go(func() {
			_ = c.SetReadDeadline(time.Now().Add(4 * requestTime))
			n, err := c.Read(make([]byte, 1))
			assert.Zero(t, n)
			assert.ErrorIs(t, err, io.EOF, "the daemon hangs up")
		})
	}
	all.Wait()
}

// An input that is too long for the daemon is decided the cold way.
func TestLongInput(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["write_file(a)"]}}`)
	in := event(u.root, "Write", map[string]any{"file_path": "a", "content": string(bytes.Repeat([]byte("x"), client.MaxRequest))})
	_, err := u.ask("claude-code", in)
	require.ErrorIs(t, err, client.ErrFrame)
	r := u.run(t, in, "claude-code")
	decision, reason := decisionOf(t, []byte(r.stdout))
	assert.Equal(t, "deny", decision)
	assert.Contains(t, reason, "write_file(a)")
}
