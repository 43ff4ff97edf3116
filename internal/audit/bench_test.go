package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/require"
)

// benchCall is a call as agents make them; the line it makes is about 700
// bytes.
func benchCall() *Decided {
	return &Decided{
		Call: model.Call{
			Tool: "bash", CallID: "toolu_01A09q90qw90lq917835lq9", Agent: "claude-code", Cwd: "/home/dev/src/webshop/services/checkout",
			Args: json.RawMessage(`{"command":"go test ./internal/cart/... -run 'TestTotals|TestRounding' -count=1 2>&1 | tail -40","description":"Run the cart tests again after the fix"}`),
		},
		Verdict: model.Verdict{
			Decision: model.Allow, By: "rule", Step: "6", Revision: "3f2a9c1d",
			Reason: "allowed by Bash(go test *) in .lictor/permissions.json",
			Rule:   &model.RuleRef{Text: "Bash(go test *)", Effect: "allow", Source: "/home/dev/src/webshop/.lictor/permissions.json"},
		},
		Mode: model.ModeBuild, Isolation: model.IsolationOS, Shell: model.ShellBash, TargetKind: model.KindCommand,
	}
}

// benchEnviron holds as many secrets as a developer's machine.
var benchEnviron = []string{
	"GITHUB_TOKEN=ghq1234567890abcdefgh", "ANTHROPIC_API_KEY=ant-0123456789abcdef", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG",
	"DATABASE_URL=postgres://app:s3cr3tpass@db/app", "NPM_TOKEN=npmq0123456789abcdef", "HOME=/home/dev", "PATH=/usr/bin:/bin",
}

func benchLog(b *testing.B, opt Options) *Log {
	opt.Home, opt.Root, opt.Environ = b.TempDir(), "/home/dev/src/webshop", benchEnviron
	l, err := Open(opt)
	require.NoError(b, err)
	b.Cleanup(func() { _ = l.Close() })
	return l
}

func benchAppend(b *testing.B, opt Options, d *Decided) {
	l := benchLog(b, opt)
	require.NoError(b, l.Verdict(d))
	b.ReportAllocs()
	reportCPU(b, 1)
	for b.Loop() {
		if err := l.Verdict(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	l := benchLog(b, Options{})
	var e Event
	benchCall().event(&e, TypeVerdict)
	prev, next := genesis, genesis
	now := time.Now()
	b.ReportAllocs()
	reportCPU(b, 1)
	for b.Loop() {
		l.enc.encode(&e, 42, now, "0123456789abcdef", &prev, &next)
	}
	b.SetBytes(int64(len(l.enc.buf)))
}

func BenchmarkAppend(b *testing.B) {
	secret := benchCall()
	secret.Call.Args = json.RawMessage(`{"command":"curl -H 'Authorization: Bearer ant-0123456789abcdef' https://api.example.com/v1/messages?token=abcdef0123456789 -d @body.json"}`)
	b.Run("unsynced", func(b *testing.B) { benchAppend(b, Options{Durability: DurabilityNone}, benchCall()) })
	b.Run("unsynced with secrets", func(b *testing.B) { benchAppend(b, Options{Durability: DurabilityNone}, secret) })
	b.Run("unsynced shared", func(b *testing.B) {
		benchAppend(b, Options{Durability: DurabilityNone, Shared: true}, benchCall())
	})
	b.Run("synced", func(b *testing.B) { benchAppend(b, Options{Durability: DurabilityAlways}, benchCall()) })
	b.Run("checkpoint", func(b *testing.B) { benchAppend(b, Options{Checkpoint: true}, benchCall()) })
	b.Run("signed checkpoint", func(b *testing.B) {
		skey, _, err := GenerateKey("bench")
		require.NoError(b, err)
		benchAppend(b, Options{Checkpoint: true, SignKey: skey}, benchCall())
	})
}

// BenchmarkBare is what the budgets are measured against: the writes and hashes
// of a line alone.
func BenchmarkBare(b *testing.B) {
	l := benchLog(b, Options{})
	var e Event
	benchCall().event(&e, TypeVerdict)
	prev, next := genesis, genesis
	l.enc.encode(&e, 42, time.Now(), "0123456789abcdef", &prev, &next)
	line := bytes.Clone(l.enc.buf)
	open := func(b *testing.B) *os.File {
		f, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		require.NoError(b, err)
		b.Cleanup(func() { f.Close() })
		return f
	}
	b.Run("write", func(b *testing.B) {
		f := open(b)
		reportCPU(b, 1)
		for b.Loop() {
			_, _ = f.Write(line)
		}
	})
	b.Run("write+fdatasync", func(b *testing.B) {
		f := open(b)
		reportCPU(b, 1)
		for b.Loop() {
			_, _ = f.Write(line)
			if err := syncFile(f); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sha256", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		reportCPU(b, 1)
		for b.Loop() {
			sha256.Sum256(line)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	const n = 200_000
	l := benchLog(b, Options{Durability: DurabilityNone})
	d := benchCall()
	for range n {
		require.NoError(b, l.Verdict(d))
	}
	require.NoError(b, l.Close())
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			reportCPU(b, n)
			for b.Loop() {
				r, err := Verify(context.Background(), l.Dir(), VerifyOptions{Workers: workers})
				if err != nil || !r.OK() {
					b.Fatal(r, err)
				}
				b.SetBytes(r.Bytes)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func BenchmarkShow(b *testing.B) {
	const n = 20_000
	l := benchLog(b, Options{Durability: DurabilityNone})
	d := benchCall()
	for range n {
		require.NoError(b, l.Verdict(d))
	}
	require.NoError(b, l.Close())
	reportCPU(b, n)
	for b.Loop() {
		count := 0
		for _, err := range Show(context.Background(), l.Dir(), Filter{}) {
			require.NoError(b, err)
			count++
		}
		require.Equal(b, n, count)
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkRatio takes turns between a bare write with fdatasync, a synced
// append and an append with a checkpoint, so that all three see the same disk,
// and reports the ratios of their medians. Budgets: 1.3 and 5.
func BenchmarkRatio(b *testing.B) {
	bare, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	require.NoError(b, err)
	defer bare.Close()
	line := append(bytes.Repeat([]byte("x"), 859), '\n')
	synced, checked := benchLog(b, Options{Durability: DurabilityAlways}), benchLog(b, Options{Checkpoint: true})
	d := benchCall()
	turns := []func() error{
		func() error {
			if _, err := bare.Write(line); err != nil {
				return err
			}
			return syncFile(bare)
		},
		func() error { return synced.Verdict(d) },
		func() error { return checked.Verdict(d) },
	}
	times := make([][]time.Duration, len(turns))
	for b.Loop() {
		for i, turn := range turns {
			start := time.Now()
			if err := turn(); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return float64(times[i][len(times[i])/2])
	}
	b.ReportMetric(median(1)/median(0), "synced/bare")
	b.ReportMetric(median(2)/median(0), "checkpoint/bare")
}
