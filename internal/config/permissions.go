package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
)

// RuleSource is one of the five places that rules come from (SPEC section 4).
type RuleSource struct {
	// File is the path, Display how the consent and its notices name it: relative
	// to the root for a project's file, else the path.
	File, Display string
	// Project says that the file lies in the project, so that a repository can
	// bring it along: what it loosens needs consent.
	Project bool
	// Text is the file's text, nil if it is missing. Rules are parsed from it.
	Text  []byte
	Rules []model.Rule
}

// byEffect returns the texts of the rules with an effect, nil if there are none.
func (s *RuleSource) byEffect(effect model.Effect) []string {
	var out []string
	for _, rule := range s.Rules {
		if rule.Effect == effect {
			out = append(out, rule.Text)
		}
	}
	return out
}

// ReadRuleSources reads the four permission files: the project's committed and
// personal one, the home folder's and the machine's. The settings' own rules
// come first in Loaded.Sources. A missing or blank file has no rules; a
// malformed file or rule is an error that names both.
func ReadRuleSources(p Places) ([]RuleSource, error) {
	shared, local := FolderName+"/permissions.json", FolderName+"/permissions.local.json"
	sources := []RuleSource{
		{File: p.Permissions, Display: shared, Project: true},
		{File: p.LocalPermissions, Display: local, Project: true},
		{File: p.HomePermissions, Display: p.HomePermissions},
		{File: p.ManagedPermissions, Display: p.ManagedPermissions},
	}
	read := []func() ([]byte, error){
		func() ([]byte, error) { return ReadProjectFile(p.Root, shared) },
		func() ([]byte, error) { return ReadProjectFile(p.Root, local) },
		func() ([]byte, error) { return ReadUserFile(p.HomePermissions) },
		func() ([]byte, error) { return ReadManagedFile(p.ManagedPermissions, p.ManagedOverridden, false) },
	}
	for i := range sources {
		text, err := read[i]()
		if err != nil {
			return nil, err
		}
		sources[i].Text = text
		if sources[i].Rules, err = ParsePermissions(sources[i].File, text); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// misplacedLists finds lists of rules beside the object "permissions" instead of
// in it, where they mean nothing. The text was parsed before.
func misplacedLists(source RuleSource) []Notice {
	if isBlank(source.Text) {
		return nil
	}
	doc, err := parseJSON(source.Text)
	if err != nil {
		return nil
	}
	top, _ := doc.value.(map[string]any)
	var notices []Notice
	for _, key := range []string{"allow", "ask", "deny"} {
		if _, there := top[key]; there {
			notices = append(notices, Notice{source.File, fmt.Sprintf("%q is ignored: move it into the object \"permissions\"", key)})
		}
	}
	return notices
}

// ParsePermissions reads the rules of a permission file's text: deny, then ask,
// then allow. file is the rules' source and the name in errors. Unknown keys are
// kept for other programs and mean nothing here, unless they look like a misspelt
// key of ours: the rules under that one would be lost. Blank text has no rules.
func ParsePermissions(file string, text []byte) ([]model.Rule, error) {
	if err := CheckText(text); err != nil {
		return nil, &FileError{File: file, Err: err}
	}
	if isBlank(text) {
		return nil, nil
	}
	doc, err := parseJSON(text)
	if err != nil {
		return nil, fileError(file, err)
	}
	fault := func(path []string, why string) error {
		return &FileError{File: file, Line: doc.lineOf(path), Err: fmt.Errorf("key %s %s", displayPath(path), why)}
	}
	top, ok := doc.value.(map[string]any)
	if !ok {
		return nil, &FileError{File: file, Err: fmt.Errorf("the document must be an object")}
	}
	misspelt := func(object map[string]any, above ...string) error {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if hint := rules.MisspeltKey(key, len(above) > 0); hint != "" {
				path := append(above, key)
				return &FileError{File: file, Line: doc.lineOf(path), Err: fmt.Errorf("unknown key %s%s", displayPath(path), hint)}
			}
		}
		return nil
	}
	if err := misspelt(top); err != nil {
		return nil, err
	}
	value, present := top["permissions"]
	if !present {
		return nil, nil
	}
	lists, ok := value.(map[string]any)
	if !ok {
		return nil, fault([]string{"permissions"}, "must be an object")
	}
	if err := misspelt(lists, "permissions"); err != nil {
		return nil, err
	}
	var out []model.Rule
	for _, effect := range []model.Effect{model.EffectDeny, model.EffectAsk, model.EffectAllow} {
		path := []string{"permissions", string(effect)}
		value, present := lists[string(effect)]
		if !present {
			continue
		}
		items, ok := value.([]any)
		if !ok {
			return nil, fault(path, "must be a list of rules")
		}
		for i, item := range items {
			at := append(path[:2:2], fmt.Sprint(i))
			text, ok := item.(string)
			if !ok {
				return nil, fault(at, "must be a rule in quotes")
			}
			rule, err := rules.Parse(text, model.SyntaxPermissions, effect, file)
			if err != nil {
				return nil, &FileError{File: file, Line: doc.lineOf(at), Err: bare(err, file)}
			}
			out = append(out, rule)
		}
	}
	return out, nil
}
