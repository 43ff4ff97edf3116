package toolcall

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStrictAccepts(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `null`, `true`, `-0.5e+10`, `0`, `""`, ` {"a" : [ 1 , {"a":2} ] , "b":{}} `, "\t\r\n1\n",
		`{"a":{"a":{"a":1}}}`, `[{"a":1},{"a":2}]`, `"\ud83d\ude00 é 日本"`, `{"":1}`, `{"a":1,"A":2}`,
		`"\u0000\b\f\n\r\t\"\\\/"`, strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
	} {
		assert.NoError(t, Strict([]byte(text)), text)
	}
}

func TestStrictRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text, path string
		cause            error
	}{
		{"empty", ``, "", ErrSyntax},
		{"blank", ` `, "", ErrSyntax},
		{"open object", `{`, "", ErrSyntax},
		{"open string", `{"a":"x`, "a", ErrSyntax},
		{"no colon", `{"a" 1}`, "a", ErrSyntax},
		{"no comma", `{"a":1 "b":2}`, "a", ErrSyntax},
		{"comma before the end", `{"a":1,}`, "a", ErrSyntax},
		{"comma before the end of a list", `[1,]`, "[1]", ErrSyntax},
		{"mixed brackets", `[1}`, "[0]", ErrSyntax},
		{"key without quotes", `{a:1}`, "", ErrSyntax},
		{"single quotes", `{'a':1}`, "", ErrSyntax},
		{"comment", `{/*x*/"a":1}`, "", ErrSyntax},
		{"NaN", `NaN`, "", ErrSyntax},
		{"leading zero", `[01]`, "[0]", ErrSyntax},
		{"bare minus", `-`, "", ErrSyntax},
		{"half a fraction", `1.`, "", ErrSyntax},
		{"half an exponent", `1e`, "", ErrSyntax},
		{"plus", `+1`, "", ErrSyntax},
		{"misspelt literal", `{"a":nul}`, "a", ErrSyntax},
		{"control character", "\"a\nb\"", "", ErrSyntax},
		{"unknown escape", `"\x41"`, "", ErrSyntax},
		{"short escape", `"\u12"`, "", ErrSyntax},
		{"trailing document", `{"a":1}{"b":2}`, "", ErrTrailing},
		{"trailing text", `{} x`, "", ErrTrailing},
		{"trailing comma", `{},`, "", ErrTrailing},
		{"byte order mark", "\ufeff{}", "", ErrEncoding},
		{"not UTF-8", "{\"a\":\"\xff\"}", "a", ErrEncoding},
		{"overlong UTF-8", "\"\xc0\xaf\"", "", ErrEncoding},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", "", ErrEncoding},
		{"lone high surrogate", `{"a":"\ud83d"}`, "a", ErrEncoding},
		{"lone low surrogate", `"\ude00"`, "", ErrEncoding},
		{"two high surrogates", `"\ud83d\ud83d"`, "", ErrEncoding},
		{"high surrogate before text", `"\ud83dx"`, "", ErrEncoding},
		{"duplicate", `{"a":1,"a":2}`, "a", ErrDuplicate},
		{"duplicate below", `{"x":[{"b":1},{"y":{"k":1,"j":2,"k":3}}]}`, "x[1].y.k", ErrDuplicate},
		{"duplicate by escape", `{"path":1,"p\u0061th":2}`, "path", ErrDuplicate},
		{"duplicate of an escape", `{"\u0070ath":1,"path":2}`, "path", ErrDuplicate},
		{"too deep", strings.Repeat("[", MaxDepth+1), "", ErrTooDeep},
		{"too deep object", strings.Repeat(`{"a":`, MaxDepth+1), "", ErrTooDeep},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Strict([]byte(c.text))
			require.ErrorIs(t, err, c.cause)
			var at *JSONError
			require.ErrorAs(t, err, &at)
			if c.cause != ErrTooDeep {
				assert.Equal(t, c.path, at.Path)
			}
			assert.GreaterOrEqual(t, at.Offset, 0)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestStrictManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		b.WriteString(`,"k` + index(i) + `":` + `{"k":1}`)
	}
	text := b.String()[1:]
	assert.NoError(t, Strict([]byte("{"+text+"}")))
	for _, i := range []int{0, 14, 15, 16, 17, 100, 199} {
		assert.ErrorIs(t, Strict([]byte("{"+text+`,"k`+index(i)+`":1}`)), ErrDuplicate, i)
		assert.ErrorIs(t, Strict([]byte("{"+text+`,"\u006b`+index(i)+`":1}`)), ErrDuplicate, i)
	}
}

func TestStrictLimits(t *testing.T) {
	start := time.Now()
	huge := make([]byte, 100<<20)
	assert.ErrorIs(t, Strict(huge), ErrTooLarge)
	assert.ErrorIs(t, Strict([]byte(strings.Repeat("[", MaxSize))), ErrTooDeep)
	_, err := builtin(t).Decode(call("bash", string(huge)))
	assert.EqualError(t, err, "bash: arguments: larger than 16 MiB (at byte 16777216)")
	assert.Less(t, time.Since(start), 2*time.Second)

	var many strings.Builder
	for i := range MaxMembers + 1 {
		many.WriteString(`,"` + index(i) + `":0`)
	}
	assert.ErrorIs(t, Strict([]byte("{"+many.String()[1:]+"}")), ErrTooMany)
	full := []byte(`"` + strings.Repeat("x", MaxSize-2) + `"`)
	assert.NoError(t, Strict(full))
	assert.ErrorIs(t, Strict(append(full, ' ')), ErrTooLarge)
}

func TestStrictAllocatesNothing(t *testing.T) {
	text := []byte(`{"command":"go test ./...","description":"Run \"tests\" é","timeout":120000,"x":[{"a":1},null]}`)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = Strict(text) }))
}

func TestDecodeStrict(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
	}
	type embedded struct {
		Deep bool `json:"deep"`
	}
	type outer struct {
		embedded
		List  []inner          `json:"list"`
		Map   map[string]inner `json:"map"`
		Ptr   *inner           `json:"ptr"`
		Raw   json.RawMessage  `json:"raw"`
		Any   any              `json:"any"`
		Plain int
		Not   int `json:"-"`
	}
	var v outer
	require.NoError(t, DecodeStrict([]byte(`{"deep":true,"list":[{"name":"a"}],"map":{"x":{"name":"b"}},"ptr":{"name":"c"},"raw":{"y":1},"any":{"z":1},"Plain":1}`), &v))
	assert.Equal(t, "b", v.Map["x"].Name)
	assert.True(t, v.Deep)
	for text, want := range map[string]string{
		`{"lists":[]}`:                    `lists: unknown key: did you mean "list"?`,
		`{"List":[]}`:                     `List: unknown key: did you mean "list"?`,
		`{"plain":1}`:                     `plain: unknown key: did you mean "Plain"?`,
		`{"Not":1}`:                       `Not: unknown key`,
		`{"list":[{"name":1}]}`:           `list.name: wrong type: number where a string is needed`,
		`[]`:                              `wrong type: array where an object is needed`,
		`{"list":[{},{"nme":"x"}]}`:       `list[1].nme: unknown key: did you mean "name"?`,
		`{"map":{"k":{"x":1}}}`:           `map.k.x: unknown key`,
		`{"ptr":{"x":1}}`:                 `ptr.x: unknown key`,
		`{"ptr":{"name":"a","name":"b"}}`: `ptr.name: duplicate key`,
	} {
		err := DecodeStrict([]byte(text), &outer{})
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
		var at *JSONError
		assert.ErrorAs(t, err, &at)
	}
	assert.Error(t, DecodeStrict([]byte(`{}`), outer{}))
}
