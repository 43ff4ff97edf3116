//go:build unix

package daemon

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/daemon/client"
)

// TokenFile is the file with the token for HTTP of the user with this home
// folder. It is made, for the user alone, when a daemon with HTTP starts; remove
// it and start the daemon again to get another token.
func TokenFile(home string) string { return filepath.Join(client.Dir(home), "token") }

const tokenBytes = 32

// token reads the token, or makes one. A file that others can read, or that is
// not the user's, has no token in it that is worth anything.
func token(home string) (string, error) {
	name := TokenFile(home)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return "", fmt.Errorf("the token for HTTP: %w", err)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG:
		return "", fmt.Errorf("%s is no regular file: remove it", name)
	case int(st.Uid) != os.Geteuid():
		return "", fmt.Errorf("%s belongs to another user: remove it", name)
	case st.Mode&0o077 != 0:
		return "", fmt.Errorf("%s is open to others: remove it, so that a new token is made", name)
	}
	data := make([]byte, 2*tokenBytes+2)
	n, _ := f.ReadAt(data, 0)
	text := strings.TrimSpace(string(data[:n]))
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == tokenBytes {
		return text, nil
	}
	if n > 0 {
		return "", fmt.Errorf("%s does not hold a token: remove it, so that a new one is made", name)
	}
	raw := make([]byte, tokenBytes)
	rand.Read(raw)
	text = hex.EncodeToString(raw)
	if _, err := f.WriteAt([]byte(text+"\n"), 0); err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", name, errors.Join(err, os.Remove(name)))
	}
	return text, nil
}

// sameToken compares in constant time, whatever the lengths.
func sameToken(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
