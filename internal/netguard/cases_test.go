package netguard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// caseRow is a line of testdata/cases.jsonl. given, input and expect are decoded
// again by the runner of the area, strictly: an unknown field or area fails.
type caseRow struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Given  json.RawMessage `json:"given"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
}

func strict(t *testing.T, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(into), "%s", data)
	require.False(t, dec.More(), "trailing data")
}

func TestCases(t *testing.T) {
	run := map[string]func(*testing.T, caseRow){
		"host-pattern":  caseHostPattern,
		"policy-host":   casePolicyHost,
		"address":       caseAddress,
		"net-authority": caseAuthority,
		"url-check":     caseURLCheck,

		"net-expand":        caseNetExpand,
		"net-allowed":       caseNetAllowed,
		"net-env":           caseNetEnv,
		"net-proxy":         caseNetProxy,
		"net-decision":      caseNetDecision,
		"policy-host-proxy": casePolicyHostProxy,
	}
	f, err := os.Open("testdata/cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c caseRow
		strict(t, lines.Bytes(), &c)
		require.Contains(t, run, c.Area, "%s: unknown area", c.ID)
		require.False(t, seen[c.ID], "%s: twice", c.ID)
		seen[c.ID] = true
		if why, ok := elsewhere[c.ID]; ok {
			t.Log(c.ID + " is tested elsewhere: " + why)
			continue
		}
		t.Run(c.ID, func(t *testing.T) { run[c.Area](t, c) })
	}
	require.NotEmpty(t, seen)
}

func caseHostPattern(t *testing.T, c caseRow) {
	var given struct{ Pattern, Where string }
	var input struct{ Host string }
	var expect struct{ Match bool }
	strict(t, c.Given, &given)
	strict(t, c.Input, &input)
	strict(t, c.Expect, &expect)
	p, err := ParsePattern(given.Pattern, given.Where)
	require.NoError(t, err)
	assert.Equal(t, expect.Match, p.Match(input.Host))
}

func casePolicyHost(t *testing.T, c caseRow) {
	var given struct{ BlockedHosts []string }
	var input struct{ Host string }
	var expect struct{ Blocked bool }
	strict(t, c.Given, &given)
	strict(t, c.Input, &input)
	strict(t, c.Expect, &expect)
	blocked := false
	for _, text := range given.BlockedHosts {
		p, err := ParsePattern(text, "network.blockedHosts")
		require.NoError(t, err)
		blocked = blocked || p.Match(input.Host)
	}
	assert.Equal(t, expect.Blocked, blocked)
}

func caseAddress(t *testing.T, c caseRow) {
	var given struct{ AllowLocalhost bool }
	var input struct{ Address string }
	var expect struct{ OK bool }
	strict(t, c.Given, &given)
	strict(t, c.Input, &input)
	strict(t, c.Expect, &expect)
	addr, err := netip.ParseAddr(input.Address)
	require.NoError(t, err)
	err = CheckAddress(addr, given.AllowLocalhost)
	assert.Equal(t, expect.OK, err == nil, "%v", err)
}

func caseAuthority(t *testing.T, c caseRow) {
	var given struct{}
	var input struct{ Text string }
	var expect struct {
		Parsed *struct {
			Host string
			Port int
		}
	}
	strict(t, c.Given, &given)
	strict(t, c.Input, &input)
	strict(t, c.Expect, &expect)
	h, err := SplitAuthority(input.Text)
	if expect.Parsed == nil {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	assert.Equal(t, expect.Parsed.Host, h.Host)
	assert.Equal(t, expect.Parsed.Port, h.Port)
}

// caseURLCheck reads the prose of the case: "stays <scheme>", or "error: " and
// what the error speaks of.
func caseURLCheck(t *testing.T, c caseRow) {
	var given struct{ AllowLocalhost bool }
	var input struct{ URL string }
	var expect struct{ Result string }
	strict(t, c.Given, &given)
	strict(t, c.Input, &input)
	strict(t, c.Expect, &expect)
	u, err := CheckURL(input.URL, given.AllowLocalhost)
	if scheme, ok := strings.CutPrefix(expect.Result, "stays "); ok {
		require.NoError(t, err)
		assert.Equal(t, scheme, u.Scheme)
		return
	}
	reason, ok := strings.CutPrefix(expect.Result, "error: ")
	require.True(t, ok, "unknown result %q", expect.Result)
	require.ErrorContains(t, err, reason)
	var input1 *InputError
	var addr *AddressError
	assert.True(t, errors.As(err, &input1) || errors.As(err, &addr), "untyped error %T", err)
}
