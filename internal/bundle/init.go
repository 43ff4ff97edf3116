package bundle

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed template/*.tmpl
var templates embed.FS

// Init writes a new bundle into a folder, which must not exist or be empty: a
// manifest, two rules with examples, their tests and a README. It passes
// [Check] and [Test] as it is. name is the bundle's name; a - in it becomes _.
// It returns the files that it wrote.
func Init(name, dir string) (written []string, err error) {
	name = strings.ReplaceAll(name, "-", "_")
	if err := checkBundleName(name); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, pathError(err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty; name a new folder", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, pathError(err)
	}
	for _, file := range []struct{ template, name string }{
		{"manifest.tmpl", manifestFile},
		{"policy.rego.tmpl", name + regoSuffix},
		{"policy_test.rego.tmpl", name + testSuffix},
		{"README.md.tmpl", "README.md"},
	} {
		text, err := templates.ReadFile("template/" + file.template)
		if err != nil {
			return written, err
		}
		path := filepath.Join(dir, file.name)
		if err := writeNew(path, []byte(strings.ReplaceAll(string(text), "NAME", name)), 0o644); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}
