package netguard

import (
	"fmt"
	"strings"
)

// broken is the error for a configuration file that cannot be understood.
func (f *finder) broken(path string, err error) error {
	return fmt.Errorf("network.allow: preset %s: %s: %w", f.entry, f.user.show(path), err)
}

// option adds a setting of a file, its variables replaced. One whose variable is
// not set means nothing.
func (f *finder) option(out *options, key, value, path string) {
	source := key + " in " + f.user.show(path)
	v, ok := f.user.expand(value)
	if !ok {
		f.note(source, "names a variable that is not set: left out")
		return
	}
	out.set(option{key, v, source})
}

// readINI adds the settings of a file of "key = value" lines, as npm and go write
// them. Sections end the file's own settings for npm.
func (f *finder) readINI(out *options, path string, expand bool) error {
	text, found, err := f.read(path)
	if err != nil || !found {
		return err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			break
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		key, value = unquote(key), unquote(value)
		if expand {
			f.option(out, key, value, path)
			continue
		}
		out.set(option{key, value, key + " in " + f.user.show(path)})
	}
	return nil
}

// unquote drops blanks and one pair of quotes.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
