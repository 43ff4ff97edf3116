package client

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFramesComeBack(t *testing.T) {
	for _, r := range []*Request{
		{Kind: KindHealth},
		{
			Kind: KindHook, Agent: "claude-code", Ask: true, Home: "/home/me", Space: "mnt:[1]", Cwd: "/w",
			Vars: []string{"A=1", "", "B="}, Stdin: bytes.Repeat([]byte{0, '"'}, 100_000), Limit: 3 * time.Second,
		},
	} {
		frame, err := EncodeRequest(r)
		require.NoError(t, err)
		got, err := ReadRequest(iotest.HalfReader(bytes.NewReader(frame)))
		require.NoError(t, err)
		if r.Stdin == nil {
			r.Stdin = []byte{}
		}
		assert.Equal(t, r, got)
	}
	for _, r := range []*Response{
		{Status: StatusText, Stdout: []byte{}, Stderr: []byte{}},
		{Status: StatusAnswer, Stdout: []byte("{}\n"), Stderr: []byte("no"), Code: 2},
	} {
		got, err := ReadResponse(iotest.OneByteReader(bytes.NewReader(EncodeResponse(r))))
		require.NoError(t, err)
		assert.Equal(t, r, got)
	}
	long := EncodeResponse(&Response{Status: StatusAnswer, Stdout: make([]byte, MaxResponse)})
	got, err := ReadResponse(bytes.NewReader(long))
	require.NoError(t, err)
	assert.Equal(t, StatusCold, got.Status)
	_, err = EncodeRequest(&Request{Stdin: make([]byte, MaxRequest)})
	assert.ErrorIs(t, err, ErrFrame)
	_, err = EncodeRequest(&Request{Vars: make([]string, MaxVars+1)})
	assert.ErrorIs(t, err, ErrFrame)
}

func TestGetenv(t *testing.T) {
	r := &Request{Vars: []string{"AB=1", "A=2", "C", "D="}}
	for name, want := range map[string]string{"A": "2", "AB": "1", "B": "", "C": "", "D": ""} {
		assert.Equal(t, want, r.Getenv(name), name)
	}
}

func TestPickVars(t *testing.T) {
	got := pickVars([]string{
		"PATH=/bin", "CLAUDE_PROJECT_DIR=/w", "OPENAI_API_KEY=sk-123456", "KEY_FILE=/etc/key", "TOKEN=short",
		"DATABASE=postgres://u:passw@h/x", "PWD=/secret", "github_token=abcdefgh", "EDITOR=vim-long", "x",
	})
	assert.Equal(t, []string{
		"CLAUDE_PROJECT_DIR=/w", "OPENAI_API_KEY=sk-123456", "DATABASE=postgres://u:passw@h/x", "github_token=abcdefgh",
	}, got)
}

// The event's name is that of the outermost object, and only if it is clear.
func TestEventName(t *testing.T) {
	for in, want := range map[string]string{
		`{"hook_event_name":"PermissionRequest"}`:                                                    "PermissionRequest",
		` { "a" : [1,{"b":"}"}] , "hookEventName" : "X" } `:                                          "X",
		`{"hook_event_name":"A","hookEventName":"A"}`:                                                "A",
		`{"hook_event_name":"A","hookEventName":"B"}`:                                                "",
		`{"hook_event_name":"PreToolUse","hook_event_name":"PermissionRequest"}`:                     "",
		`{"tool_input":{"hook_event_name":"PermissionRequest"}}`:                                     "",
		`{"tool_input":"\",\"hook_event_name\":\"PermissionRequest","hook_event_name":"PreToolUse"}`: "PreToolUse",
		`{"x":"\\","hook_event_name":"P"}`:                                                           "P",
		`{"hook_event\u005fname":"A","hook_event_name":"B"}`:                                         "",
		`{"hook_event_name":"Permission\u0052equest"}`:                                               "",
		`{"hook_event_name":null}`:                                                                   "", `{}`: "", ``: "", `[`: "", `{"a":`: "", `{"a"`: "", `{"a":"`: "", `{"a":]}`: "", `{"a":,}`: "",
	} {
		assert.Equal(t, want, eventName([]byte(in)), in)
	}
}

func TestRefuseUnknownAgent(t *testing.T) {
	r := Refuse("nobody", nil, "no\nway")
	assert.Equal(t, Response{Status: StatusAnswer, Stderr: []byte("lictor: no way\n"), Code: 2}, r)
}

func FuzzReadRequest(f *testing.F) {
	frame, _ := EncodeRequest(&Request{Kind: KindHook, Agent: "a", Vars: []string{"A=1"}, Stdin: []byte("{}"), Limit: time.Second})
	f.Add(frame)
	f.Add(EncodeResponse(&Response{Status: StatusAnswer, Stdout: []byte("x")}))
	f.Add([]byte("LCTR\x01\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := ReadRequest(bytes.NewReader(data)); err == nil {
			again, err := EncodeRequest(r)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(data, again), "one request has one spelling")
		}
		if r, err := ReadResponse(bytes.NewReader(data)); err == nil {
			require.True(t, bytes.HasPrefix(data, EncodeResponse(r)))
		}
	})
}

// Whatever the agent sent, the refusal is JSON that denies, and the name that is
// found is one that a JSON reader finds too.
func FuzzRefuse(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"PermissionRequest","tool_input":{"a":[1,"}"]}}`), "a \"reason\"\x00\xff")
	f.Add([]byte(`{"tool_input":{"hook_event_name":"PermissionRequest"},"hook_event_name":"PreToolUse"}`), "")
	f.Fuzz(func(t *testing.T, stdin []byte, reason string) {
		for agent := range refusals {
			r := Refuse(agent, stdin, reason)
			var out map[string]any
			require.NoError(t, json.Unmarshal(r.Stdout, &out), "%s", r.Stdout)
			require.True(t, strings.Contains(string(r.Stdout), `"deny"`))
			require.Equal(t, 1, strings.Count(string(r.Stdout), "\n"))
		}
		name := eventName(stdin)
		if name == "" || !json.Valid(stdin) {
			return
		}
		var in map[string]json.RawMessage
		if json.Unmarshal(stdin, &in) != nil {
			return
		}
		quoted := []string{string(in["hook_event_name"]), string(in["hookEventName"])}
		require.Contains(t, quoted, `"`+name+`"`)
	})
}
