package audit

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/testcase"
)

type corpusRow struct {
	Text    string   `json:"text"`
	Secrets []string `json:"secrets"`
}

// Every secret of the corpus is removed, as a text and in every place of an
// event, and what was removed can be compared.
func TestSecretsAreRemoved(t *testing.T) {
	red := NewRedactor([]byte("key"), nil)
	enc := &encoder{red: red}
	for _, row := range testcase.Lines[corpusRow](t, "testdata/secrets.jsonl") {
		for _, secret := range row.Secrets {
			require.Contains(t, row.Text, secret)
			assert.NotContains(t, red.String(row.Text), secret, "in %q", row.Text)
			args, _ := json.Marshal(map[string]any{"command": row.Text, "list": []any{1, map[string]string{"content": row.Text}}})
			line := encodeEvent(enc, &Event{Type: TypeVerdict, Args: args, Reason: row.Text, Target: row.Text, Error: row.Text, Cwd: row.Text})
			e, err := decodeLine(line)
			require.NoError(t, err)
			plain, _ := json.Marshal(secret)
			assert.NotContains(t, string(line), string(plain[1:len(plain)-1]), "in %q", row.Text)
			assert.NotEmpty(t, e.Redactions)
		}
	}
}

func TestLookalikesStay(t *testing.T) {
	red := NewRedactor([]byte("key"), nil)
	for _, row := range testcase.Lines[corpusRow](t, "testdata/lookalikes.jsonl") {
		assert.Equal(t, row.Text, red.String(row.Text))
	}
}

func TestRedactionOfArguments(t *testing.T) {
	enc := testEncoder()
	for args, want := range map[string]string{
		`{"password":"q"}`:                       `{"password":"REDACTED-`,
		`{"user":{"apiKey":"abcd1234"}}`:         `{"user":{"apiKey":"REDACTED-`,
		`{"argv":["login","--password","ab 1"]}`: `{"argv":["login","--password","REDACTED-`,
		`{"headers":{"Authorization":"abc"}}`:    `{"headers":{"Authorization":"REDACTED-`,
		`{"headers":{"Cookie":"a=b"}}`:           `{"headers":{"Cookie":"REDACTED-`,
		`{"secret":12345678}`:                    `{"secret":"REDACTED-`,
		`{"\u0070assword":"abc"}`:                `{"password":"REDACTED-`,
		`{"passwords":["a"],"tokens":3}`:         `{"passwords":["a"],"tokens":3}`,
		`{"password":null,"token":"$TOKEN"}`:     `{"password":null,"token":"$TOKEN"}`,
		` {"a" : [ 1 , 2 ] } `:                   `{"a":[1,2]}`,
	} {
		e, err := decodeLine(encodeEvent(enc, &Event{Type: TypeVerdict, Args: json.RawMessage(args)}))
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(e.Args), want), "%s became %s", args, e.Args)
	}
}

func TestEnvironmentSecrets(t *testing.T) {
	file := t.TempDir() + "/credentials-file"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	red := NewRedactor([]byte("key"), []string{
		"MY_API_KEY=plainliteral-987654321", "DATABASE_URL=postgres://app:pass-in-url@h/db", "SSH_AUTH_SOCK=/tmp/sock-abc",
		"PWD=/home/u/projects", "AUTH_MODE=production", "GOOGLE_CREDENTIALS=" + file, "TOKEN=true", "SESSION_KEY=abc",
		"HOME=/home/u", "EDITOR=plainword-editor", "DEPLOY_TOKEN=weird token \"with\" everything/+",
	})
	for _, secret := range []string{
		"plainliteral-987654321", "pass-in-url", url.QueryEscape(`weird token "with" everything/+`),
		base64.StdEncoding.EncodeToString([]byte("plainliteral-987654321")),
	} {
		assert.NotContains(t, red.String("x "+secret+" y"), secret)
	}
	for _, text := range []string{"/tmp/sock-abc", "/home/u/projects", "production", file, "true", "abc", "/home/u", "plainword-editor"} {
		assert.Equal(t, text, red.String(text))
	}
	require.NoError(t, red.RegisterSecret("abcd"))
	require.Error(t, red.RegisterSecret("abc"))
	assert.Contains(t, red.String("x abcd y"), "REDACTED-registered-")
}

// Equal secrets have equal MACs, in every line and for every reader with the
// log's key; nobody else can try guesses.
func TestRemovedSecretsCanBeCompared(t *testing.T) {
	opt := testOptions(t)
	for range 2 {
		l := openLog(t, opt)
		require.NoError(t, l.Verdict(decided("bash", `{"command":"x --password hunter22"}`, "allow", "rule")))
		require.NoError(t, l.Close())
	}
	dir := Dir(opt.Home, opt.Root)
	list := events(t, dir, Filter{})
	require.Len(t, list, 2)
	key, err := os.ReadFile(dir + "/" + secretName)
	require.NoError(t, err)
	for _, e := range list {
		require.Len(t, e.Redactions, 1)
		assert.Equal(t, Redaction{Field: "args", Kind: kindAssign, Len: 8, MAC: SecretMAC(key, "hunter22")}, e.Redactions[0])
	}
}

// A redacted command is still one: the placeholder is a plain word.
func TestPlaceholderIsAWord(t *testing.T) {
	red := NewRedactor([]byte("key"), nil)
	assert.Regexp(t, `^x --password REDACTED-assignment-[0-9a-f]{8} y$`, red.String("x --password 'a' y")[:0]+red.String("x --password a-b y"))
	assert.Regexp(t, `^x "REDACTED-assignment-[0-9a-f]{8}"$`, strings.Replace(red.String(`x --password "a b"`), "--password ", "", 1))
	again := red.String("x --password hunter22")
	assert.Equal(t, again, red.String(again), "redaction is idempotent")
}

// The scan is linear: nothing a caller writes can hold up the next call.
func TestRedactionIsLinear(t *testing.T) {
	red := NewRedactor([]byte("key"), []string{"A_KEY=aaaaaaaaaaaaaaab"})
	for _, piece := range []string{
		"://", "token:", "token=", "token:$", "a=", "?a=b", "://a@", "-----BEGIN ", "-----BEGIN PRIVATE KEY", "cookie:", "a", "\"token\":", "--token ", "set token ",
		"\\\"", "curl -u a", "eyJ", "sk-", "ghp_", "x-key:", "=", "'", "token='", "password:$", "?a=B1c",
	} {
		text := []byte(strings.Repeat(piece, 1<<20/len(piece)))
		start := time.Now()
		var sc scanner
		sc.scan(red, text)
		assert.Less(t, time.Since(start), 3*time.Second, "%q", piece)
	}
}

func FuzzRedact(f *testing.F) {
	for _, row := range testcase.Lines[corpusRow](f, "testdata/secrets.jsonl") {
		f.Add(row.Text)
	}
	for _, row := range testcase.Lines[corpusRow](f, "testdata/lookalikes.jsonl") {
		f.Add(row.Text)
	}
	const secret = "registered-secret-0123456789"
	red := NewRedactor([]byte("key"), nil)
	if err := red.RegisterSecret(secret); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := len(text) / 2
		out := red.String(text[:at] + secret + text[at:])
		if strings.Contains(out, secret) {
			t.Fatalf("the secret stays in %q", out)
		}
		var sc scanner
		last := 0
		for _, sp := range sc.scan(red, []byte(text)) {
			if sp.from < last || sp.to <= sp.from || sp.to > len(text) {
				t.Fatalf("bad span %v in %q", sp, text)
			}
			last = sp.to
		}
	})
}
