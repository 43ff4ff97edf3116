package toolcall

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// lines decodes a file of JSON lines strictly.
func lines[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	var out []T
	for scan := bufio.NewScanner(bytes.NewReader(data)); scan.Scan(); {
		var row T
		require.NoError(t, DecodeStrict(scan.Bytes(), &row), scan.Text())
		out = append(out, row)
	}
	return out
}

type recorded struct {
	Agent string          `json:"agent"`
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args"`
}

// TestCallsOfAgents decodes one realistic call of every name in the table and
// compares with testdata/calls.golden (go test -update rewrites it).
func TestCallsOfAgents(t *testing.T) {
	table := builtin(t)
	seen := map[string]bool{}
	var got strings.Builder
	for _, c := range lines[recorded](t, "calls.jsonl") {
		seen[c.Tool] = true
		d, err := table.Decode(model.Call{Tool: c.Tool, Args: c.Args})
		require.NoError(t, err, c.Tool)
		fmt.Fprintf(&got, "%s [%s]\n%s\n", c.Tool, c.Agent, describeDecoded(d))
	}
	for _, name := range table.Names() {
		assert.True(t, seen[name], "testdata/calls.jsonl has no call of %q", name)
	}
	golden := filepath.Join("testdata", "calls.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "run go test -update and read the difference")
}

// describeDecoded is a decoded call as the goldens show it.
func describeDecoded(d *Decoded) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s %s", d.Tool, or(d.Class, "-"), d.Kind)
	for _, flag := range []struct {
		on   bool
		text string
	}{
		{d.ReadOnly, "read-only"},
		{d.Unextractable, "unextractable"},
		{d.ShellHint != "", "hint=" + d.ShellHint},
		{d.Workdir != "", "workdir=" + d.Workdir},
		{d.PairDescriptor != "", "pair=" + d.PairDescriptor},
	} {
		if flag.on {
			b.WriteString(" " + flag.text)
		}
	}
	b.WriteByte('\n')
	for _, t := range d.Targets {
		fmt.Fprintf(&b, "    %s", t.Kind)
		switch t.Kind {
		case model.KindPath:
			fmt.Fprintf(&b, " %s %q", strings.TrimSpace(string(t.Access)+" "+string(t.Role)), t.Path.Text)
		case model.KindCommand:
			fmt.Fprintf(&b, " %q", t.Source)
			if t.OutsideSandbox {
				b.WriteString(" outside_sandbox")
			}
		case model.KindURL:
			fmt.Fprintf(&b, " %q", t.URL)
		}
		if t.Descriptor != "" {
			fmt.Fprintf(&b, " descriptor %q", t.Descriptor)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// row is a line of permissions.jsonl.
type row struct {
	ID           string              `json:"id"`
	Area         string              `json:"area"`
	API          string              `json:"api"`
	Rules        map[string][]string `json:"rules"`
	Tool         string              `json:"tool"`
	Args         json.RawMessage     `json:"args"`
	Expect       json.RawMessage     `json:"expect"`
	ExpectAsk    json.RawMessage     `json:"expect_ask_first"`
	SessionAllow []string            `json:"session_allow"`
}

// TestPermissionCases reads the conformance cases of the areas that this
// package is about; another area in the file fails.
func TestPermissionCases(t *testing.T) {
	table := builtin(t)
	for _, c := range lines[row](t, "permissions.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			switch c.Area {
			case "target":
				var want struct {
					Perm       string `json:"perm"`
					Descriptor string `json:"descriptor"`
				}
				require.NoError(t, DecodeStrict(c.Expect, &want))
				d, err := table.Decode(model.Call{Tool: c.Tool, Args: c.Args})
				require.NoError(t, err)
				require.Len(t, d.Targets, 1)
				assert.Equal(t, want.Perm, d.Class)
				assert.Equal(t, want.Perm, table.Class(c.Tool))
				assert.Equal(t, want.Descriptor, d.Targets[0].Descriptor)
			case "diffpaths":
				var args struct {
					Diff string `json:"diff"`
				}
				var want []string
				require.NoError(t, DecodeStrict(c.Args, &args))
				require.NoError(t, DecodeStrict(c.Expect, &want))
				assert.Equal(t, want, ParseDiffPaths(args.Diff))
			default:
				t.Fatalf("unknown area %q", c.Area)
			}
		})
	}
}
