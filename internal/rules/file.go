package rules

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// maxFile is the largest permission file that is read.
const maxFile = 1 << 20

// effects are the lists of a permission file, in the order they are written.
var effects = []model.Effect{model.EffectAllow, model.EffectAsk, model.EffectDeny}

var errLink = errors.New("a link is not followed: replace it with a regular file")

// fileRules is what one permission file says.
type fileRules struct {
	path  string
	text  string
	rules []model.Rule
	// unknown are keys of the permissions object that mean nothing here.
	unknown []string
	// misplaced are lists of rules beside the permissions object.
	misplaced []string
}

// readFile returns the text of a permission file, "" if it is missing. Only a
// regular file is read: a link could lead anywhere, and a pipe or device would
// hang the reader. Errors name the file.
func readFile(path string) (string, error) {
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return "", err
	}
	f, err := openPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: cannot be read: %w", path, reason(err))
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: cannot be read: %w", path, reason(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a regular file: replace it with one", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", fmt.Errorf("%s: cannot be read: %w", path, reason(err))
	}
	if len(text) > maxFile {
		return "", fmt.Errorf("%s: larger than %d bytes: remove rules", path, maxFile)
	}
	return string(text), nil
}

// checkFolder refuses a `.lictor` folder that is a link or no folder.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: cannot be read: %w", dir, reason(err))
	case filepath.Base(dir) == folderName && info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: a link is not followed: replace it with a folder", dir)
	case info.Mode()&fs.ModeSymlink == 0 && !info.IsDir():
		return fmt.Errorf("%s: not a folder", dir)
	}
	return nil
}

// reason drops the path that os errors repeat.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// parseFile reads the rules of a permission file. A blank text has none. Errors
// name the file and what is wrong.
func parseFile(path, text string) (*fileRules, error) {
	out := &fileRules{path: path, text: text}
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	d, err := parseDocument(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range d.members(d.root) {
		if hint := MisspeltKey(m.key, false); hint != "" {
			return nil, fmt.Errorf("%s: unknown key %q%s", path, m.key, hint)
		}
		if slices.Contains(effects, model.Effect(m.key)) {
			out.misplaced = append(out.misplaced, m.key)
		}
	}
	permissions, ok := d.lookup(d.root, "permissions")
	if !ok {
		return out, nil
	}
	if d.text[permissions.start] != '{' {
		return nil, fmt.Errorf(`%s: "permissions" must be an object with the lists "allow", "ask" and "deny"`, path)
	}
	for _, m := range d.members(permissions) {
		effect := model.Effect(m.key)
		if effect != model.EffectAllow && effect != model.EffectAsk && effect != model.EffectDeny {
			if hint := MisspeltKey(m.key, true); hint != "" {
				return nil, fmt.Errorf(`%s: unknown key "permissions.%s"%s`, path, m.key, hint)
			}
			out.unknown = append(out.unknown, m.key)
			continue
		}
		if d.text[m.text.start] != '[' {
			return nil, fmt.Errorf(`%s: "permissions.%s" must be a list of rules`, path, m.key)
		}
		elements, _, _ := d.array(m.text.start)
		for i, e := range elements {
			if d.text[e.start] != '"' {
				return nil, fmt.Errorf(`%s: "permissions.%s[%d]" must be a string such as "Bash(go test *)"`, path, m.key, i)
			}
			rule, err := Parse(d.string(e), model.SyntaxPermissions, effect, path)
			if err != nil {
				return nil, fmt.Errorf("%w (permissions.%s[%d])", err, m.key, i)
			}
			out.rules = append(out.rules, rule)
		}
	}
	return out, nil
}

// loadFile reads and parses a permission file.
func loadFile(path string) (*fileRules, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parseFile(path, text)
}
