package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// rootPrefix is where every managed bundle lives, as OPA writes roots.
const rootPrefix = "lictor/managed/"

// namePattern is what a bundle may be called: its name is part of a package.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// manifest is what .manifest may say. OPA tolerates more; here every key that
// would be ignored is an error.
type manifest struct {
	Revision    string          `json:"revision"`
	Roots       []string        `json:"roots"`
	RegoVersion *int            `json:"rego_version"`
	Metadata    metadata        `json:"metadata"`
	FileVersion json.RawMessage `json:"file_rego_versions"`
	Wasm        json.RawMessage `json:"wasm"`

	name string
}

// metadata are lictor's own keys of the manifest.
type metadata struct {
	// Serial counts the releases of a bundle. A machine that has seen one never
	// takes a lower one again.
	Serial int64 `json:"serial"`
	// Title and Description are for people.
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

// readManifest decodes .manifest strictly and returns what is wrong with it.
func readManifest(f files, r *refusal) (m manifest) {
	text, ok := f[manifestFile]
	if !ok {
		r.add(manifestFile, 0, "", "missing; it says the revision, the root %s<name> and the serial", rootPrefix)
		return m
	}
	fail := func(key, format string, args ...any) {
		r.add(manifestFile, lineOf(text, key), "", format, args...)
	}
	if err := checkJSON(text); err != nil {
		line := 0
		if known, ok := errors.AsType[*lineError](err); ok {
			line = known.line
		}
		r.add(manifestFile, line, "", "%v", err)
		return m
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			fail(kind.Field[strings.LastIndexByte(kind.Field, '.')+1:], "%s must be %s, not %s", kind.Field, jsonKind(kind.Type.Kind()), kind.Value)
			return m
		}
		key := ""
		if _, after, ok := strings.Cut(err.Error(), `unknown field "`); ok {
			key = strings.TrimSuffix(after, `"`)
		}
		fail(key, "%s", strings.TrimPrefix(err.Error(), "json: "))
		return m
	}
	if m.Revision == "" {
		fail("revision", "revision is missing; it names this release in verdicts and the audit")
	}
	if strings.ContainsFunc(m.Revision, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(m.Revision) > 200 {
		fail("revision", "revision is too long or holds control characters")
	}
	switch {
	case m.Wasm != nil && !slices.Contains([]string{"null", "[]"}, string(m.Wasm)):
		fail("wasm", "wasm is not used here; ship the Rego modules")
	case m.FileVersion != nil && !slices.Contains([]string{"null", "{}"}, string(m.FileVersion)):
		fail("file_rego_versions", "file_rego_versions is refused: every module is Rego v1 with `import rego.v2`")
	case m.RegoVersion != nil && *m.RegoVersion != 1 && *m.RegoVersion != 2:
		fail("rego_version", "rego_version %d is refused; use 1", *m.RegoVersion)
	}
	if m.Metadata.Serial < 0 {
		fail("serial", "metadata.serial is negative; it counts up from 1")
	}
	m.name, _ = rootName(m.Roots)
	if _, err := rootName(m.Roots); err != nil {
		fail("roots", "%v", err)
	}
	return m
}

// jsonKind is what a value of a Go kind is in JSON.
func jsonKind(kind reflect.Kind) string {
	switch kind {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return "a " + kind.String()
}

// rootName returns the name in the one root that a bundle has.
func rootName(roots []string) (string, error) {
	want := fmt.Sprintf("roots must be exactly [%q]", rootPrefix+"<name>")
	if len(roots) != 1 {
		return "", fmt.Errorf("%s, and there are %d", want, len(roots))
	}
	name, ok := strings.CutPrefix(roots[0], rootPrefix)
	if !ok {
		return "", fmt.Errorf("%s, not %q", want, roots[0])
	}
	if err := checkBundleName(name); err != nil {
		return "", fmt.Errorf("%s: %w", want, err)
	}
	return name, nil
}

// checkBundleName says what a bundle may be called.
func checkBundleName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("the name %q is refused: lower-case letters, digits and _, a letter first", name)
	}
	return nil
}
