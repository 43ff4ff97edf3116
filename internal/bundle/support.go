package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/schemas"
)

// CapabilitiesJSON is what a bundle may use, in the form that `opa check
// --capabilities` and `opa test --capabilities` read. It is the engine's own
// allowlist and print, which is left out when a bundle decides.
func CapabilitiesJSON() ([]byte, error) {
	text, err := json.MarshalIndent(withPrint(), "", "  ")
	return append(text, '\n'), err
}

// withPrint is the builtin allowlist with print, for tests.
func withPrint() *ast.Capabilities {
	allowed := *eval.Capabilities()
	allowed.Builtins = append(append([]*ast.Builtin{}, allowed.Builtins...), ast.Print, ast.InternalPrint)
	return &allowed
}

// Support says where the files lie that a stock OPA needs for a bundle.
type Support struct {
	// Library is a bundle with package data.lictor.lib, Schemas the folder of
	// schemas, Capabilities the file of allowed builtins.
	Library, Schemas, Capabilities string
}

// WriteSupport writes the support files into a folder and returns where they lie.
// Files that are there already with the same text are left alone.
func WriteSupport(dir string) (Support, error) {
	s := Support{
		Library: filepath.Join(dir, "lib"), Schemas: filepath.Join(dir, "schemas"),
		Capabilities: filepath.Join(dir, "capabilities.json"),
	}
	texts := map[string][]byte{
		filepath.Join(s.Library, manifestFile): []byte("{\"revision\": \"lictor\", \"roots\": [\"lictor/lib\"]}\n"),
	}
	library, err := eval.Library()
	if err != nil {
		return s, err
	}
	for name, text := range library {
		texts[filepath.Join(s.Library, filepath.FromSlash(name))] = []byte(text)
	}
	if texts[filepath.Join(s.Schemas, "input.json")], err = schemas.Read("input.json"); err != nil {
		return s, err
	}
	if texts[s.Capabilities], err = CapabilitiesJSON(); err != nil {
		return s, err
	}
	for _, name := range sortedKeys(texts) {
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, texts[name]) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return s, pathError(err)
		}
		if err := os.WriteFile(name, texts[name], 0o644); err != nil {
			return s, pathError(err)
		}
	}
	return s, nil
}

// TestCommand is the command line of a stock OPA that runs the tests of a
// bundle.
func (s Support) TestCommand(bundle string) string {
	return fmt.Sprintf("opa test --fail-on-empty --capabilities %s -b %s %s", quote(s.Capabilities), quote(s.Library), quote(bundle))
}

// CheckCommand is the command line of a stock OPA that checks a bundle.
func (s Support) CheckCommand(bundle string) string {
	return fmt.Sprintf("opa check --strict --capabilities %s -s %s %s %s", quote(s.Capabilities), quote(filepath.Join(s.Schemas, "input.json")), quote(s.Library), quote(bundle))
}

// quote makes one shell word.
func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:@%+,~", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
