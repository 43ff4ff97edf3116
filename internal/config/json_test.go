package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseJSONIsStrict(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		line  int
		fault string
	}{
		"duplicate key":        {"{\n\"a\": 1,\n\"a\": 2}", 3, `key "a" stands there twice`},
		"nested duplicate key": {"{\"x\": {\"a\": 1,\n \"\\u0061\": 2}}", 2, `key "x.a" stands there twice`},
		"in a list":            {`[{"a":1,"a":2}]`, 1, "twice"},
		"trailing value":       {"{}\n{}", 2, "more text after the end"},
		"trailing junk":        {"{} x", 1, "more text after the end"},
		"trailing brace":       {"{}}", 1, "more text after the end"},
		"ends early":           {"{\n\"a\": [1,\n", 3, "ends too early"},
		"comment":              {"{\n// no\n}", 2, "not valid JSON"},
		"trailing comma":       {"{\"a\": 1,\n}", 2, "not valid JSON"},
		"single quotes":        {"{'a': 1}", 1, "not valid JSON"},
		"unquoted key":         {"{a: 1}", 1, "not valid JSON"},
		"number as a key":      {"{1: 1}", 1, "not valid JSON"},
		"NaN":                  {"{\"a\": NaN}", 1, "not valid JSON"},
		"huge exponent":        {"{\"a\":\n1E+999999}", 2, "too long or too large"},
		"tiny exponent":        {"[1e-301]", 1, "too long or too large"},
		"overflowing exponent": {"[1e99999999999999999999]", 1, "too long or too large"},
		"long number":          {"[" + strings.Repeat("1", 41) + "]", 1, "too long or too large"},
		"control character":    {"{\"a\": \"\x01\"}", 1, "not valid JSON"},
		"deep":                 {strings.Repeat("[", 100_000), 1, "nested deeper than 64 levels"},
		"deep and closed":      {strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), 1, "nested deeper"},
		"nothing":              {"", 1, "ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseJSON([]byte(c.text))
			require.ErrorContains(t, err, c.fault)
			var syntax *syntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, c.line, syntax.line)
		})
	}
}

func TestParseJSONKnowsLines(t *testing.T) {
	doc, err := parseJSON([]byte("{\n \"a\": {\n  \"b\": [\n   1,\n   \"}{\\\"[\"\n  ]\n },\n \"c\": 2\n}\n"))
	require.NoError(t, err)
	for path, line := range map[string]int{"a": 2, "a b": 3, "a b 0": 4, "a b 1": 5, "c": 8, "a b 7": 3, "z": 0} {
		assert.Equal(t, line, doc.lineOf(strings.Fields(path)), path)
	}
	assert.Equal(t, []int{8, 4, 0}, doc.linesOf([][]string{{"c"}, {"a", "b", "0"}, {}}))
	_, err = parseJSON([]byte("[" + strings.Repeat("1,", maxValues) + "1]"))
	require.ErrorContains(t, err, "more than 50000 values")
	_, err = parseJSON([]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64)))
	require.NoError(t, err, "the limit itself is allowed")
}
