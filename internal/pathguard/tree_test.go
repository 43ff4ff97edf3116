package pathguard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// realTemp is a temp folder without links in its path.
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// tree makes entries below dir: "a/b.txt" is a file, "a/" a folder, "a -> b" a
// link with the text b.
func tree(t testing.TB, dir string, entries ...string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, e := range entries {
		name, target, isLink := strings.Cut(e, " -> ")
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		switch {
		case isLink:
			require.NoError(t, os.Symlink(target, at))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(at, 0o755))
		default:
			require.NoError(t, os.WriteFile(at, []byte(name), 0o644))
		}
	}
}

func newGuard(t testing.TB, root string, opts ...Option) *Guard {
	t.Helper()
	g, err := New(root, opts...)
	require.NoError(t, err)
	return g
}
