package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/schemas"
)

// checker validates documents against one embedded schema.
type checker struct {
	schema *jsonschema.Schema
	// raw is the schema's own document, for proposals.
	raw map[string]any
}

var (
	settingsChecker = sync.OnceValues(func() (*checker, error) { return newChecker("settings.json") })
	policyChecker   = sync.OnceValues(func() (*checker, error) { return newChecker("policy.json") })
)

func newChecker(name string) (*checker, error) {
	text, err := schemas.Read(name)
	if err != nil {
		return nil, err
	}
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(name, raw); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &checker{schema: schema, raw: raw.(map[string]any)}, nil
}

// noLoader keeps a schema from ever loading another: nothing is fetched.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema %s is not embedded and never fetched", url)
}

// decodeStrict reads text as the document that the checker's schema describes
// and decodes it into out. Blank text leaves out as it is. Errors are
// *FileError and name file, line and key.
func decodeStrict(file string, text []byte, get func() (*checker, error), out any) (*document, error) {
	if err := CheckText(text); err != nil {
		return nil, &FileError{File: file, Err: err}
	}
	if isBlank(text) {
		return &document{}, nil
	}
	doc, err := parseJSON(text)
	if err != nil {
		return nil, fileError(file, err)
	}
	check, err := get()
	if err != nil {
		return nil, err
	}
	if err := check.validate(doc); err != nil {
		return nil, fileError(file, err)
	}
	doc.value = withoutComments(doc.value)
	plain, err := json.Marshal(doc.value)
	if err == nil {
		err = decodeClosed(plain, out)
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		// The schema takes 1.0 and 1e3 for integers.
		err = fmt.Errorf("key %q must be written in plain digits, not as %s", wrong.Field, strings.TrimPrefix(wrong.Value, "number "))
	}
	if err != nil {
		return nil, &FileError{File: file, Err: err}
	}
	return doc, nil
}

// commentKey is the key that every object of a document accepts. It and the
// editors' "$schema" are checked with the rest, and then dropped.
const commentKey = "$comment"

// withoutComments returns a copy of a document without what is for people only.
func withoutComments(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if key != commentKey && key != "$schema" {
				out[key] = withoutComments(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutComments(item)
		}
		return out
	}
	return value
}

// decodeClosed decodes text into out, which must know every key.
func decodeClosed(text []byte, out any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(out)
}

func fileError(file string, err error) error {
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		return &FileError{File: file, Line: syntax.line, Err: syntax.err}
	}
	return &FileError{File: file, Err: err}
}

// validate returns the first fault of the document in the order of its lines.
func (c *checker) validate(doc *document) error {
	err := c.schema.Validate(doc.value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	var faults []fault
	collect(invalid, &faults)
	if len(faults) == 0 {
		return err
	}
	// The order of the validator is a map's: sorted by path first, the few that are
	// looked at are always the same.
	slices.SortFunc(faults, func(a, b fault) int { return slices.Compare(a.path, b.path) })
	faults = faults[:min(len(faults), maxFaults)]
	paths := make([][]string, len(faults))
	for i := range faults {
		paths[i] = faults[i].path
	}
	lines, first := doc.linesOf(paths), 0
	for i := range faults {
		if lines[i] < lines[first] {
			first = i
		}
	}
	return &syntaxError{max(lines[first], 1), c.explain(faults[first])}
}

// maxFaults is how many faults are compared to find the one in the first line.
const maxFaults = 100

// fault is one leaf of the validator's tree: an unknown key, or a value that is
// not as it should be.
type fault struct {
	path    []string
	unknown bool
	kind    jsonschema.ErrorKind
}

// collect gathers the leaves.
func collect(invalid *jsonschema.ValidationError, faults *[]fault) {
	for _, cause := range invalid.Causes {
		collect(cause, faults)
	}
	path := invalid.InstanceLocation
	if unknown, ok := invalid.ErrorKind.(*kind.AdditionalProperties); ok {
		for _, key := range unknown.Properties {
			*faults = append(*faults, fault{path: append(path[:len(path):len(path)], key), unknown: true})
		}
	} else if len(invalid.Causes) == 0 {
		*faults = append(*faults, fault{path: path, kind: invalid.ErrorKind})
	}
}

// explain says what is wrong, in our own words.
func (c *checker) explain(f fault) error {
	switch {
	case f.unknown:
		last := len(f.path) - 1
		return fmt.Errorf("unknown key %s%s", displayPath(f.path), rules.Suggest(f.path[last], c.keysAt(f.path[:last])))
	case len(f.path) == 0:
		return fmt.Errorf("the document %s", describe(f.kind))
	}
	return fmt.Errorf("key %s %s", displayPath(f.path), describe(f.kind))
}

// describe says what is wrong with a value.
func describe(fault jsonschema.ErrorKind) string {
	switch k := fault.(type) {
	case *kind.Enum:
		words := make([]string, 0, len(k.Want))
		var names []string
		for _, want := range k.Want {
			words = append(words, fmt.Sprintf("%#v", want))
			if name, ok := want.(string); ok {
				names = append(names, name)
			}
		}
		got, isText := k.Got.(string)
		if !isText {
			return "must be one of " + strings.Join(words, ", ")
		}
		return fmt.Sprintf("is %q, but must be one of %s%s", short(got), strings.Join(words, ", "), rules.Suggest(got, names))
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.MinLength, *kind.MinItems:
		return "must not be empty"
	case *kind.MaxLength:
		return fmt.Sprintf("is longer than %d characters", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has more than %d items", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("has more than %d keys", k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("is %q, which has characters that are not allowed there", short(k.Got))
	case *kind.Required:
		return fmt.Sprintf("lacks the key %q", k.Missing[0])
	case *kind.Not:
		return "must be false or an object"
	}
	return "is not valid"
}

// short keeps a value that a file supplied from filling the screen.
func short(text string) string {
	if len(text) <= 80 {
		return text
	}
	return strings.ToValidUTF8(text[:80], "") + "…"
}

// keysAt returns the keys that the schema knows for the object at the path.
func (c *checker) keysAt(path []string) []string {
	node := c.resolve(c.raw)
	for _, element := range path {
		properties, _ := node["properties"].(map[string]any)
		next, ok := properties[element].(map[string]any)
		if !ok {
			if next, ok = node["additionalProperties"].(map[string]any); !ok {
				next, ok = node["items"].(map[string]any)
			}
		}
		if !ok {
			return nil
		}
		node = c.resolve(next)
	}
	properties, _ := node["properties"].(map[string]any)
	keys := make([]string, 0, len(properties))
	for key := range properties {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// resolve follows a local reference ("#/$defs/name").
func (c *checker) resolve(node map[string]any) map[string]any {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	definitions, _ := c.raw["$defs"].(map[string]any)
	target, _ := definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	return target
}
