package eval

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// schemaObject is the part of an object schema that says its keys.
type schemaObject struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// keysOf lists the JSON keys of a struct, embedded ones included, and those that
// are always written.
func keysOf(t reflect.Type) (all, always []string) {
	for field := range fields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case name == "-":
		case field.Anonymous && name == "":
			inner, sure := keysOf(kind)
			all = append(all, inner...)
			if field.Type.Kind() != reflect.Pointer {
				always = append(always, sure...)
			}
		default:
			all = append(all, name)
			if !strings.Contains(options, "omitempty") {
				always = append(always, name)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(always)
	return all, always
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// TestInputSchemaFitsTheModel: the schema has exactly the keys of the documents
// that lictor writes.
func TestInputSchemaFitsTheModel(t *testing.T) {
	text, err := os.ReadFile(inputSchema)
	require.NoError(t, err)
	var schema struct {
		schemaObject
		Defs map[string]schemaObject `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	for name, test := range map[string]struct {
		object schemaObject
		value  any
	}{
		"input":     {schema.schemaObject, model.Input{}},
		"target":    {schema.Defs["target"], model.Target{}},
		"part":      {schema.Defs["part"], model.Part{}},
		"inner":     {schema.Defs["inner"], model.Simple{}},
		"reference": {schema.Defs["reference"], model.PathRef{}},
	} {
		all, always := keysOf(reflect.TypeOf(test.value))
		var keys []string
		for key := range test.object.Properties {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		slices.Sort(test.object.Required)
		assert.Equal(t, all, keys, name)
		assert.Equal(t, always, test.object.Required, name)
	}
	for _, fact := range model.FactNames {
		assert.Contains(t, schema.Defs["facts"].Properties, fact)
	}
	assert.Len(t, schema.Defs["facts"].Properties, model.FactBits)
}

// TestInputSchemaAcceptsADocument validates what the model writes, and refuses
// what it never would.
func TestInputSchemaAcceptsADocument(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(inputSchema)
	require.NoError(t, err)
	command := model.Command{
		Source: "ls > x", Grade: model.GradeStatic, Writes: []string{"x"}, Reads: []string{}, Hosts: []string{},
		Parts: []model.Part{{Text: "ls", Canonical: "ls", Flat: "ls", Program: "ls", Args: []string{}, Inner: []model.Simple{}}},
	}
	input := model.Input{
		Tool: "bash", Mode: model.ModeBuild, Isolation: model.IsolationOS, Root: "/w",
		Targets: []model.Target{{
			Kind: model.KindCommand, Command: &command,
			Redirections: []model.PathRef{{Access: model.AccessWrite, Path: model.Path{Text: "x", Rel: "x"}}},
		}},
		Facts: model.FactCommand | model.FactConfined,
	}
	text, err := json.Marshal(input)
	require.NoError(t, err)
	validate := func(text string) error {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		return schema.Validate(document)
	}
	require.NoError(t, validate(string(text)))
	for _, edit := range [][2]string{
		{`"command":true`, `"command":false`}, {`"confined"`, `"confimed"`}, {`"kind":"command",`, ``}, {`"tool"`, `"tools"`},
	} {
		require.Contains(t, string(text), edit[0])
		assert.Error(t, validate(strings.Replace(string(text), edit[0], edit[1], 1)), edit[1])
	}
}
