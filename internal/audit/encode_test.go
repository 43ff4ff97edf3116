package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testEncoder() *encoder { return &encoder{red: NewRedactor([]byte("key"), nil)} }

func encodeEvent(enc *encoder, e *Event) []byte {
	prev, next := genesis, genesis
	return enc.encode(e, 7, time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC), "0123456789abcdef", &prev, &next)
}

// fullEvent has every field set.
func fullEvent() *Event {
	yes, no, code := true, false, 3
	return &Event{
		Type: TypeVerdict, Tool: "bash", Class: DenyRule, Risk: RiskHigh, By: "rule", Kind: "protected", Step: "3",
		Reason: "denied by Bash(rm *) \"quoted\"\n\ttab \\ back", Revision: "r9", Hits: []string{"6:rule", "7:default"},
		Rule:   &model.RuleRef{Text: "Bash(rm *)", Effect: "deny", Source: "/p/.lictor/permissions.json"},
		CallID: "c1", Agent: "codex", Mode: model.ModePlan, Isolation: model.IsolationNone, Shell: model.ShellZsh,
		Cwd: "/p/ü/\u2028", TargetKind: model.KindPath, Target: "a/b", OutsideSandbox: true, ReadOnly: &no, AlwaysAsk: true,
		Args:   json.RawMessage(`{"command":"rm -rf x","n":12345678901234567890,"f":1.50,"list":[1,"a",null,true,{}],"é":"\u00e9\ud83d\ude00\u001b"}`),
		Answer: "never", Observed: true,
		Shadow: &Shadow{Policy: "candidate", Class: AllowRule, By: "rule", Reason: "r", Looser: true},
		Intent: 5, IntentSegment: "fedcba9876543210", Ran: &yes, Blocked: true, Exit: &code, Duration: 1500, Error: "e",
		System: &System{Format: "lictor-audit/1", Why: "w", Count: 3, Link: &Point{File: "f.jsonl", Count: 1, Head: string(genesis[:])}},
	}
}

// The encoder is written by hand: encoding/json must read the same from it.
func TestEncoderAgreesWithJSON(t *testing.T) {
	e := fullEvent()
	line := encodeEvent(testEncoder(), e)
	require.True(t, framed(line) && hashMatches(line))
	got, err := decodeLine(line)
	require.NoError(t, err)
	want := *e
	want.Version, want.Seq, want.Segment = 1, 7, "0123456789abcdef"
	want.Time = time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	want.Prev, want.Hash = string(genesis[:]), got.Hash
	assert.JSONEq(t, string(e.Args), string(got.Args))
	assert.Contains(t, string(line), "12345678901234567890")
	assert.Contains(t, string(line), "1.50", "numbers are kept as they were written")
	want.Args, got.Args = nil, nil
	assert.Equal(t, want, *got)
	assert.Empty(t, strictLine(line))
}

func TestEncoderMatchesSchema(t *testing.T) {
	raw, err := os.ReadFile("../../schemas/audit-event.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("audit-event.json", doc))
	schema, err := c.Compile("audit-event.json")
	require.NoError(t, err)
	validate := func(line []byte) {
		t.Helper()
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(v), "%s", line)
	}
	validate(encodeEvent(testEncoder(), fullEvent()))
	validate(encodeEvent(testEncoder(), &Event{Type: TypeVerdict, Args: json.RawMessage(`{"password":"hunter22"`)}))

	// Every line of a log with everything in it.
	opt := testOptions(t)
	opt.Checkpoint = true
	skey, _, err := GenerateKey("k")
	require.NoError(t, err)
	opt.SignKey = skey
	opt.Environ = []string{"MY_TOKEN=abcdef0123456789"}
	l := openLog(t, opt)
	fill(t, l, 2)
	require.NoError(t, l.Verdict(decided("bash", `{"command":"x abcdef0123456789"}`, model.Ask, "default")))
	require.NoError(t, l.Hook(&HookRun{Event: "stop", Command: "true", Ran: true}))
	edit(t, segments(t, l.Dir())[0], func(p []byte) []byte { return append(p, "x"...) }) // somebody writes to it
	fill(t, l, 1)
	l.dropped = 3
	fill(t, l, 1)
	_, err = Ack(t.Context(), opt, VerifyOptions{}, "me", "a test")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	types := map[Type]bool{}
	for _, name := range segments(t, l.Dir()) {
		p, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range bytes.Lines(p) {
			if !framed(line) {
				continue
			}
			validate(line)
			e, err := decodeLine(line)
			require.NoError(t, err)
			types[e.Type] = true
		}
	}
	for _, want := range []Type{TypeHeader, TypeEnd, TypeConflict, TypeGap, TypeAck, TypeVerdict, TypeHook} {
		assert.True(t, types[want], "no %s event was made", want)
	}
}

func TestEncoderDoesNotAllocate(t *testing.T) {
	enc := testEncoder()
	e := fullEvent()
	e.System, e.Args = nil, json.RawMessage(`{"command":"curl -H 'Authorization: Bearer abcdefgh12345' https://x?token=abcdef123456","a":["--password","x"]}`)
	encodeEvent(enc, e)
	// The MAC of a removal goes through hash.Hash, which may allocate its sum.
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { encodeEvent(enc, e) }), 10.0)
	e.Args = json.RawMessage(`{"command":"go test ./...","list":[1,2,"x\ny"]}`)
	assert.Zero(t, testing.AllocsPerRun(100, func() { encodeEvent(enc, e) }))
}

// Different calls must not look the same, even where the line cannot show them.
func TestLossyCallsStayDifferent(t *testing.T) {
	enc := testEncoder()
	mac := func(args string) string {
		e, err := decodeLine(encodeEvent(enc, &Event{Type: TypeVerdict, Args: json.RawMessage(args)}))
		require.NoError(t, err)
		return e.Lossy
	}
	assert.Empty(t, mac(`{"command":"x"}`))
	for _, pair := range [][2]string{
		{"{\"command\":\"rm \xff\"}", "{\"command\":\"rm \xfe\"}"},
		{`{"command":"rm \ud800"}`, `{"command":"rm \ud801"}`},
		{`{"command":"` + strings.Repeat("a", 40_000) + `b"}`, `{"command":"` + strings.Repeat("a", 40_000) + `c"}`},
	} {
		a, b := mac(pair[0]), mac(pair[1])
		assert.NotEmpty(t, a)
		assert.NotEqual(t, a, b)
	}
}

func TestLinesAreBounded(t *testing.T) {
	enc := testEncoder()
	huge := strings.Repeat("\x01", 3<<20)
	args, err := json.Marshal(map[string]any{"content": huge, "list": []string{huge, huge}, huge[:1000]: huge})
	require.NoError(t, err)
	for _, raw := range [][]byte{args, []byte(huge), []byte(`"` + strings.Repeat("a", 3<<20) + `"`), bytes.Repeat([]byte("["), 1<<20), []byte(`[` + strings.Repeat(`"aaaaaaaaaaaaaaaaaaaa",`, 100_000) + `1]`)} {
		e := &Event{
			Type: TypeVerdict, Tool: huge, Reason: huge, Cwd: huge, Target: huge, Error: huge, CallID: huge, Agent: huge, Args: raw,
			Revision: huge, Rule: &model.RuleRef{Text: huge, Effect: huge, Source: huge}, Hits: []string{huge, huge},
			Shadow: &Shadow{Policy: huge, Class: "deny", By: huge, Reason: huge}, By: huge, Kind: huge,
		}
		line := encodeEvent(enc, e)
		assert.Less(t, len(line), maxLine)
		got, err := decodeLine(line)
		require.NoError(t, err)
		assert.True(t, got.Cut)
		assert.NotEmpty(t, got.Lossy)
	}
}

// A secret on the border of a cut is removed whole.
func TestNoHalfSecretAtACut(t *testing.T) {
	enc := testEncoder()
	for shift := range 40 {
		text := strings.Repeat("a ", (maxArgText-shift)/2) + "ghp_0123456789abcdefghijklmnopqrstuvwxyz tail " + strings.Repeat("b", 100)
		args, _ := json.Marshal(map[string]string{"content": text})
		line := encodeEvent(enc, &Event{Type: TypeVerdict, Args: args})
		assert.NotContains(t, string(line), "ghp_")
	}
}

func FuzzEncode(f *testing.F) {
	f.Add("bash", "reason", []byte(`{"command":"ls"}`), "x")
	f.Add("", "\xff\x00", []byte(`{"a":"\ud800"}`), "\u2028")
	f.Add("t", "password=x", []byte(`["--token","abc",{"password":[1,"b"]}]`), "Authorization: Bearer x")
	f.Fuzz(func(t *testing.T, tool, reason string, args []byte, target string) {
		enc := testEncoder()
		line := encodeEvent(enc, &Event{Type: TypeVerdict, Tool: tool, Reason: reason, Args: args, Target: target})
		if !framed(line) || !hashMatches(line) || bytes.Count(line, []byte("\n")) != 1 || !utf8.Valid(line) || len(line) > maxLine {
			t.Fatalf("bad line %q", line)
		}
		if why := strictLine(line); why != "" {
			t.Fatalf("%s: %q", why, line)
		}
		e, err := decodeLine(line)
		if err != nil {
			t.Fatal(err)
		}
		// What has nothing to remove is kept as it was.
		if utf8.ValidString(reason) && len(reason) < maxField && len(e.Redactions) == 0 && e.Reason != reason {
			t.Fatalf("%q became %q", reason, e.Reason)
		}
		if json.Valid(args) && utf8.Valid(args) && len(args) < 1000 && len(e.Redactions) == 0 && e.Lossy == "" && !e.ArgsText {
			var want, got any
			d := json.NewDecoder(bytes.NewReader(args))
			d.UseNumber()
			_ = d.Decode(&want)
			d = json.NewDecoder(bytes.NewReader(e.Args))
			d.UseNumber()
			_ = d.Decode(&got)
			assert.Equal(t, want, got)
		}
	})
}

func FuzzReadLine(f *testing.F) {
	f.Add(encodeEvent(testEncoder(), fullEvent()))
	f.Add([]byte(lineStart))
	f.Add([]byte(`{"v":1,"seq":` + strings.Repeat("9", 30)))
	f.Fuzz(func(t *testing.T, p []byte) {
		checkLine(p)
		isSpecial(p)
		strictLine(p)
		lineTime(p, "")
		tornLooking(p)
		m := newMemFS()
		m.live["/d/20260101T000000.000000000Z-1-00000000.jsonl"] = &memNode{data: p, mode: 0o400}
		r, err := Verify(t.Context(), "/d", VerifyOptions{Strict: true, FS: m, Workers: 1})
		if err != nil || r.OK() {
			t.Fatalf("%v %v", r, err)
		}
	})
}

func FuzzCheckpoint(f *testing.F) {
	c := Checkpoint{Log: "l", Time: time.Unix(1, 0), Point: Point{File: "x.jsonl", Count: 3, Head: string(genesis[:]), Bytes: 9}}
	msg, _ := c.message(nil)
	f.Add(msg)
	f.Fuzz(func(t *testing.T, p []byte) {
		c, err := parseCheckpoint(p, nil)
		if err != nil {
			return
		}
		if again, _ := c.message(nil); !bytes.HasPrefix(p, again[:len(again)-1]) {
			t.Fatalf("%q is read and written as %q", p, again)
		}
	})
}

func FuzzAnchors(f *testing.F) {
	f.Add(Anchor{"l", Point{File: "x.jsonl", Count: 3, Head: string(genesis[:])}}.String())
	f.Fuzz(func(t *testing.T, text string) {
		anchors, err := ParseAnchors(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, a := range anchors {
			again, err := ParseAnchors(strings.NewReader(a.String()))
			if err != nil || len(again) != 1 || again[0] != a {
				t.Fatalf("%v is read again as %v, %v", a, again, err)
			}
		}
	})
}

// TestTimes: the time of an event is written as the time package writes it.
func TestTimes(t *testing.T) {
	var enc encoder
	at := time.Date(2026, 2, 28, 23, 59, 59, 0, time.FixedZone("", 3600))
	for i := range 2000 {
		at = at.Add(time.Duration(i) * 7_919_003 * time.Nanosecond)
		for _, one := range []time.Time{at, at.Truncate(time.Second), at.Truncate(time.Second).Add(5)} {
			require.Equal(t, one.UTC().Format(timeForm), string(enc.time(nil, one)))
		}
	}
}
