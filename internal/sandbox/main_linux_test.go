package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func testPolicy(t testing.TB, in Input) *ExecPolicy {
	t.Helper()
	if in.Home == "" {
		in.Home = filepath.Join(filepath.Dir(in.Root), "home")
		require.NoError(t, os.MkdirAll(in.Home, 0o755))
	}
	in.Sandbox = true
	if in.Timeout == 0 {
		in.Timeout = 30 * time.Second
	}
	p, err := NewPolicy(in)
	require.NoError(t, err)
	return p
}

func TestSmoke(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "w")
	require.NoError(t, os.Mkdir(root, 0o755))
	p := testPolicy(t, Input{Root: root})
	for _, e := range []string{"native", "bwrap", "landlock", "host"} {
		t.Run(e, func(t *testing.T) {
			s, err := Open(Selection{Setting: e})
			require.NoError(t, err)
			q := *p
			if e == "host" {
				q.Sandbox = false
			}
			res, err := s.Run(context.Background(), &q, Command{Argv: []string{"bash", "-c", "id; pwd; echo hi > x; cat x; ls -la .; touch ../esc; exit 3"}})
			require.NoError(t, err)
			t.Logf("%+v", res)
		})
	}
}
