package rules

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// RequiresConfirmation is the error of AddAllow for a rule that allows so much
// that a person must confirm it by itself. Nothing was changed.
type RequiresConfirmation struct {
	// Rule is the rule as it would be written.
	Rule string
}

// Error names the rule.
func (e *RequiresConfirmation) Error() string {
	return fmt.Sprintf("the rule %s allows every tool of every MCP server: confirm it explicitly", e.Rule)
}

// AddAllow adds an allow rule to the personal file, unless it is there already.
// The error is *RequiresConfirmation for a rule such as MCP(*), which
// AddAllowConfirmed adds; a malformed file is an error and is left alone.
func (p *Permissions) AddAllow(rule string) error {
	r, err := p.check(rule, model.EffectAllow)
	if err != nil {
		return err
	}
	if everyServer(&r) {
		return &RequiresConfirmation{Rule: r.Text}
	}
	return p.add(r)
}

// AddAllowConfirmed is AddAllow for a rule that a person has confirmed.
func (p *Permissions) AddAllowConfirmed(rule string) error {
	r, err := p.check(rule, model.EffectAllow)
	if err != nil {
		return err
	}
	return p.add(r)
}

// AddDeny adds a deny rule to the personal file, unless it is there already.
func (p *Permissions) AddDeny(rule string) error {
	r, err := p.check(rule, model.EffectDeny)
	if err != nil {
		return err
	}
	return p.add(r)
}

// everyServer reports whether a rule speaks of every MCP server.
func everyServer(r *model.Rule) bool {
	return (r.Tool == "MCP" || strings.HasPrefix(r.Tool, "mcp") && strings.HasSuffix(r.Tool, "*")) && strings.Trim(r.Pattern, "*?/ ") == ""
}

// check parses and compiles a rule by itself, before anything is written.
func (p *Permissions) check(rule string, effect model.Effect) (model.Rule, error) {
	r, err := Parse(rule, model.SyntaxPermissions, effect, p.LocalPath())
	if err != nil {
		return r, err
	}
	_, _, err = Compile([]model.Rule{r}, p.opts.Env)
	return r, err
}

// add writes one rule into the personal file and takes it into the set.
func (p *Permissions) add(r model.Rule) error {
	return p.edit(func(f *fileRules) (string, error) {
		for _, there := range f.rules {
			if there.Effect == r.Effect && there.Text == r.Text {
				return f.text, nil
			}
		}
		text := f.text
		if strings.TrimSpace(text) == "" {
			text = skeleton
		}
		d, err := parseDocument(text)
		if err != nil {
			return "", err
		}
		return d.withRule(string(r.Effect), r.Text), nil
	})
}

// RemoveRule removes a rule with this effect and text from the personal file,
// and reports whether it was there.
func (p *Permissions) RemoveRule(effect model.Effect, rule string) (removed bool, err error) {
	rule = strings.TrimSpace(rule)
	err = p.edit(func(f *fileRules) (string, error) {
		if strings.TrimSpace(f.text) == "" {
			return f.text, nil
		}
		d, err := parseDocument(f.text)
		if err != nil {
			return "", err
		}
		text, n := d.withoutRule(string(effect), rule)
		removed = n > 0
		return text, nil
	})
	return removed, err
}

// edit changes the text of the personal file under the lock of all processes,
// and takes its rules into the set. What cannot be read again after the change
// is not written.
func (p *Permissions) edit(change func(*fileRules) (string, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := p.LocalPath()
	return locked(filepath.Dir(path), p.opts.LockWait, func() error {
		old, err := loadFile(path)
		if err != nil {
			return err
		}
		text, err := change(old)
		if err != nil {
			return err
		}
		f, err := parseFile(path, text)
		if err != nil {
			return fmt.Errorf("the change would break the file: %w", err)
		}
		now := p.now.Load()
		b, err := p.build(replaceFile(now.files, f), now.session)
		if err != nil {
			return err
		}
		if text != old.text {
			if err := writeFile(path, text); err != nil {
				return err
			}
		}
		p.now.Store(b)
		return nil
	})
}

// replaceFile returns the files with one read anew.
func replaceFile(files []*fileRules, f *fileRules) []*fileRules {
	out := slices.Clone(files)
	for i := range out {
		if out[i].path == f.path {
			out[i] = f
			return out
		}
	}
	return append(out, f)
}

// AddSessionAllow adds an allow rule for this session only, in memory. It does
// nothing if a file or the session has the rule already. Errors are those of a
// rule that does not parse or compile.
func (p *Permissions) AddSessionAllow(rule string) error {
	r, err := Parse(rule, model.SyntaxPermissions, model.EffectAllow, "session")
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.now.Load()
	for _, there := range b.set.rules {
		if there.Effect == model.EffectAllow && there.Text == r.Text {
			return nil
		}
	}
	return p.put(b.files, append(slices.Clone(b.session), r))
}

// EnsureFiles writes a skeleton of empty lists to each project file that is
// missing or blank; others stay as they are, malformed ones too.
func (p *Permissions) EnsureFiles() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return locked(filepath.Join(p.root, folderName), p.opts.LockWait, func() error {
		for _, path := range []string{p.SharedPath(), p.LocalPath()} {
			text, err := readFile(path)
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) != "" {
				continue
			}
			if err := writeFile(path, skeleton); err != nil {
				return err
			}
		}
		return nil
	})
}
