package bundle

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opa runs the stock OPA of this module.
func opa(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.Command(opaBinary(t), args...).CombinedOutput()
	return string(out), err
}

// newBundle writes the template into a folder of its own.
func newBundle(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	written, err := Init(name, dir)
	require.NoError(t, err)
	require.Len(t, written, 4)
	return dir
}

func TestTemplatePasses(t *testing.T) {
	dir := newBundle(t, "my-team")
	b, advice, err := Check(context.Background(), dir)
	require.NoError(t, err)
	assert.Empty(t, advice)
	assert.Equal(t, "my_team", b.Name())
	assert.Len(t, b.Rules(), 2)

	_, err = Init("other", dir)
	require.ErrorContains(t, err, "is not empty")
	_, err = Init("Bad Name", filepath.Join(dir, "x"))
	require.ErrorContains(t, err, "is refused")
}

func TestTestGivesWhatStockOPAGives(t *testing.T) {
	dir := newBundle(t, "team")
	report, err := Test(context.Background(), dir, filepath.Join(t.TempDir(), "support"))
	require.NoError(t, err)
	assert.Zero(t, report.Failed())
	assert.Len(t, report.Results, 8)
	assert.InDelta(t, 100, report.Coverage, 0.1, report.Uncovered)

	words := strings.Fields(report.Stock)
	out, err := opa(t, words[1:]...)
	require.NoError(t, err, out)
	assert.Contains(t, out, "PASS: 8/8")

	// A rule that is broken fails in both.
	file := filepath.Join(dir, "team.rego")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), `"destroy" in`, `"destroyed" in`, 1)), 0o644))
	report, err = Test(context.Background(), dir, filepath.Join(t.TempDir(), "support"))
	require.NoError(t, err)
	assert.Equal(t, 3, report.Failed())
	_, err = opa(t, words[1:]...)
	require.Error(t, err)
}

func TestTestIsStrict(t *testing.T) {
	dir := newBundle(t, "team")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more_test.rego"), []byte(`package lictor.managed.team.test

import rego.v2

test_type if not contains(input.list, "x") with input as {"list": []}
`), 0o644))
	report, err := Test(context.Background(), dir, t.TempDir())
	require.NoError(t, err)
	require.Equal(t, 1, report.Failed())
	last := report.Results[0]
	for _, r := range report.Results {
		if !r.Pass {
			last = r
		}
	}
	assert.Contains(t, last.Error, "contains")
	assert.Equal(t, "more_test.rego", last.File)
	assert.Equal(t, 5, last.Line)
}

func TestCheckCommandOfStockOPA(t *testing.T) {
	dir := newBundle(t, "team")
	support, err := WriteSupport(t.TempDir())
	require.NoError(t, err)
	out, err := opa(t, strings.Fields(support.CheckCommand(dir))[1:]...)
	require.NoError(t, err, out)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "net.rego"), []byte("package lictor.managed.team\n\nimport rego.v2\n\n_x := http.send({\"method\": \"get\", \"url\": \"https://example.com\"})\n"), 0o644))
	out, err = opa(t, strings.Fields(support.CheckCommand(dir))[1:]...)
	require.Error(t, err)
	assert.Contains(t, out, "undefined function http.send")
	_, _, err = Check(context.Background(), dir)
	require.ErrorContains(t, err, "net.rego:5: rule _x: rego_type_error: undefined function http.send")
}

func TestBuildIsReproducible(t *testing.T) {
	dir := newBundle(t, "team")
	out := t.TempDir()
	one, b, err := Build(context.Background(), dir, filepath.Join(out, "one.tar.gz"))
	require.NoError(t, err)
	later := filepath.Join(dir, "team.rego")
	require.NoError(t, os.Chtimes(later, b0, b0))
	two, _, err := Build(context.Background(), dir, filepath.Join(out, "two.tar.gz"))
	require.NoError(t, err)
	first, err := os.ReadFile(one)
	require.NoError(t, err)
	second, err := os.ReadFile(two)
	require.NoError(t, err)
	assert.Equal(t, first, second)

	built, err := Load(context.Background(), one, LoadOptions{AllowUnsigned: true})
	require.NoError(t, err)
	assert.Equal(t, b.Digest(), built.Digest())
	assert.Equal(t, []string{".manifest", "team.rego"}, built.files.names())
}

func TestSignAndVerify(t *testing.T) {
	for _, alg := range []string{AlgEdDSA, AlgES256} {
		t.Run(alg, func(t *testing.T) {
			keys := t.TempDir()
			private, public, err := Keygen(keys, "release", alg)
			require.NoError(t, err)
			assert.Equal(t, "release.key.pem", filepath.Base(private))
			key, err := ReadSigningKey(private, "")
			require.NoError(t, err)
			assert.Equal(t, alg, key.Alg)
			_, err = ReadSigningKey(public, "")
			require.ErrorContains(t, err, "this is the public key; its private half signs, release.key.pem")
			ring := &Keyring{}
			text, err := os.ReadFile(public)
			require.NoError(t, err)
			require.NoError(t, ring.Add("release", text))

			dir := newBundle(t, "team")
			file, _, err := Build(context.Background(), dir, filepath.Join(t.TempDir(), "team.tar.gz"))
			require.NoError(t, err)
			for _, path := range []string{dir, file} {
				_, err = Verify(context.Background(), path, ring)
				require.ErrorContains(t, err, "not signed")
				_, err = Sign(context.Background(), path, key)
				require.NoError(t, err)
				b, err := Verify(context.Background(), path, ring)
				require.NoError(t, err)
				assert.Equal(t, "release", b.KeyID())
				info, err := Inspect(context.Background(), path, ring)
				require.NoError(t, err)
				assert.Equal(t, "release", info.Key)
				assert.Equal(t, []string{"terraform plan", "echo terraform destroy"}, info.Rules[0].Good)
			}
			_, _, err = Keygen(keys, "release", alg)
			require.ErrorContains(t, err, "is there already")
		})
	}
}

// TestStockOPASigns takes a bundle that was signed by OPA alone.
func TestStockOPASigns(t *testing.T) {
	dir := newBundle(t, "team")
	require.NoError(t, os.Remove(filepath.Join(dir, "README.md")))
	keys := t.TempDir()
	private, public, err := Keygen(keys, "ci", AlgES256)
	require.NoError(t, err)
	ring := &Keyring{}
	text, err := os.ReadFile(public)
	require.NoError(t, err)
	require.NoError(t, ring.Add("ci", text))
	claims := filepath.Join(keys, "claims.json")
	for content, want := range map[string]string{
		`{"scope": "lictor/managed", "keyid": "ci"}`: "",
		`{"scope": "lictor/managed"}`:                "names no key",
		`{"scope": "other", "keyid": "ci"}`:          "scope mismatch",
		`{"keyid": "ci"}`:                            "scope mismatch",
	} {
		require.NoError(t, os.WriteFile(claims, []byte(content), 0o600))
		command := exec.Command(opaBinary(t), "sign", "-b", ".", "--signing-key", private, "--signing-alg", "ES256", "--claims-file", claims, "-o", ".")
		command.Dir = dir
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
		_, err = Verify(context.Background(), dir, ring)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
		require.NoError(t, os.Remove(filepath.Join(dir, signaturesFile)))
	}
}
