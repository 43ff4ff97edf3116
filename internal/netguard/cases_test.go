package netguard

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/testcase"
)

func TestCases(t *testing.T) {
	run := map[string]func(*testing.T, testcase.Row){
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
	for _, c := range testcase.Rows(t, "testdata/cases.jsonl") {
		require.Contains(t, run, c.Area, "%s: unknown area", c.ID)
		if why, ok := elsewhere[c.ID]; ok {
			t.Log(c.ID + " is tested elsewhere: " + why)
			continue
		}
		t.Run(c.ID, func(t *testing.T) { run[c.Area](t, c) })
	}
}

func caseHostPattern(t *testing.T, c testcase.Row) {
	var given struct{ Pattern, Where string }
	var input struct{ Host string }
	var expect struct{ Match bool }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	p, err := ParsePattern(given.Pattern, given.Where)
	require.NoError(t, err)
	assert.Equal(t, expect.Match, p.Match(input.Host))
}

func casePolicyHost(t *testing.T, c testcase.Row) {
	var given struct{ BlockedHosts []string }
	var input struct{ Host string }
	var expect struct{ Blocked bool }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	blocked := false
	for _, text := range given.BlockedHosts {
		p, err := ParsePattern(text, "network.blockedHosts")
		require.NoError(t, err)
		blocked = blocked || p.Match(input.Host)
	}
	assert.Equal(t, expect.Blocked, blocked)
}

func caseAddress(t *testing.T, c testcase.Row) {
	var given struct{ AllowLocalhost bool }
	var input struct{ Address string }
	var expect struct{ OK bool }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	addr, err := netip.ParseAddr(input.Address)
	require.NoError(t, err)
	err = CheckAddress(addr, given.AllowLocalhost)
	assert.Equal(t, expect.OK, err == nil, "%v", err)
}

func caseAuthority(t *testing.T, c testcase.Row) {
	var given struct{}
	var input struct{ Text string }
	var expect struct {
		Parsed *struct {
			Host string
			Port int
		}
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
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
func caseURLCheck(t *testing.T, c testcase.Row) {
	var given struct{ AllowLocalhost bool }
	var input struct{ URL string }
	var expect struct{ Result string }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
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
