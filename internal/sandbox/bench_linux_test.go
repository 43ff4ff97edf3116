package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// benchRoot is a small project outside of the temp folders where that is possible.
func benchRoot(b *testing.B) *ExecPolicy {
	base, err := os.MkdirTemp("/srv", "lictor-bench-")
	if err != nil {
		base = b.TempDir()
	}
	b.Cleanup(func() { _ = os.RemoveAll(base) })
	root := filepath.Join(base, "w")
	require.NoError(b, os.MkdirAll(root, 0o755))
	out, err := exec.Command("git", "init", "-q", root).CombinedOutput()
	require.NoError(b, err, string(out))
	return testPolicy(b, Input{Root: root, Timeout: time.Minute})
}

// BenchmarkCommand is a whole Run of a command by each executor beside a plain
// start and bare bubblewrap, which has no filter, no Landlock and no policy. The
// candidates take turns, so that a busy machine is busy for all of them; the medians
// and their ratio to a plain start are reported.
func BenchmarkCommand(b *testing.B) {
	p := benchRoot(b)
	for _, cmd := range [][]string{{"/bin/true"}, {"bash", "-c", "true"}} {
		b.Run(filepath.Base(cmd[0]), func(b *testing.B) {
			cands := candidatesOf(b, p, cmd)
			times := make([][]float64, len(cands))
			for b.Loop() {
				for i, c := range cands {
					began := time.Now()
					require.NoError(b, c.run(), c.name)
					times[i] = append(times[i], float64(time.Since(began).Microseconds())/1000)
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, c := range cands {
				slices.Sort(times[i])
				slices.Sort(times[0])
				m, plain := times[i][len(times[i])/2], times[0][len(times[0])/2]
				b.ReportMetric(m, c.name+"-ms")
				if i > 0 {
					b.ReportMetric(m/plain, c.name+"-x")
				}
			}
		})
	}
}

type candidate struct {
	name string
	run  func() error
}

func candidatesOf(b *testing.B, p *ExecPolicy, cmd []string) []candidate {
	plain := func(argv []string) func() error {
		return func() error {
			c := exec.Command(argv[0], argv[1:]...)
			c.Stdout, c.Stderr = &capture{}, &capture{}
			return c.Run()
		}
	}
	out := []candidate{{"plain", plain(cmd)}}
	if err := checkBwrap(); err != nil {
		b.Logf("EXECUTOR bwrap NOT MEASURED: %v", err)
	} else {
		out = append(out, candidate{"bare-bwrap", plain(append([]string{
			bwrapPath, "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
			"--tmpfs", "/run", "--bind", p.Root, p.Root, "--chdir", p.Root, "--",
		}, cmd...))})
	}
	for _, e := range []Executor{Native, Bubblewrap, Landlock, Host} {
		if e == Bubblewrap && checkBwrap() != nil {
			continue
		}
		s := openExecutor(b, e)
		q := *p
		q.Sandbox = e != Host
		out = append(out, candidate{string(e), func() error {
			res, err := s.Run(context.Background(), &q, Command{Argv: cmd})
			if err == nil && res.ExitCode != 0 {
				err = fmt.Errorf("exit code %d: %s", res.ExitCode, res.Stderr.Text)
			}
			return err
		}})
	}
	return out
}
