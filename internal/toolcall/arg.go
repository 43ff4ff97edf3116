package toolcall

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// arg reads one argument of the entry into targets. Every spelling that the call
// has counts.
func (r *reader) arg(a *argEntry) error {
	before := len(r.out.Targets)
	there := false
	for _, from := range a.From {
		v, err := r.find(from)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		there = true
		if err := r.take(a, from, v); err != nil {
			return err
		}
	}
	if len(r.out.Targets) > before {
		return nil
	}
	switch {
	case a.Default != "":
		r.path(a, a.Default)
	case !there && !a.Optional && takes[a.Take] != "":
		return r.wrong(a.From[0], "is missing")
	}
	return nil
}

// take reads one value in the entry's way.
func (r *reader) take(a *argEntry, from string, v value) error {
	switch a.Take {
	case takeOutside:
		return r.outside(a, from, v)
	case takeShell:
		return r.shell(from, v)
	case takePaths, takeGlobs, takePattern, takeURLs:
		list, ok := v.texts()
		if !ok {
			return r.wrong(from, "must be a string or a list of strings")
		}
		if len(list) == 0 && a.Default == "" && !a.Optional {
			return r.wrong(from, "must not be empty")
		}
		if len(list) > MaxTargets {
			return r.wrong(from, "names more than 4096 targets: split the call")
		}
		for _, text := range list {
			if err := r.one(a, from, text); err != nil {
				return err
			}
		}
		return nil
	case takeEdits:
		return r.edits(a, from, v)
	case takeCommand:
		return r.command(a, from, v)
	case takeGit:
		return r.git(from, v)
	case takeDiff, takePatch:
		return r.diff(a, from, v)
	}
	text, ok := v.text()
	if !ok {
		return r.wrong(from, "must be a string")
	}
	return r.one(a, from, text)
}

// one reads one string.
func (r *reader) one(a *argEntry, from, text string) error {
	if text == "" {
		// An empty value of an argument that may be absent is an absent one.
		if a.Default != "" || a.Optional || takes[a.Take] == "" {
			return nil
		}
		return r.wrong(from, "must not be empty")
	}
	switch a.Take {
	case takePath, takePaths:
		return r.place(a, from, text)
	case takeGlobs:
		return r.selected(a, from, text)
	case takePattern:
		return r.pattern(a, from, text)
	case takeURL, takeURLs:
		if strings.TrimSpace(text) == "" {
			return r.wrong(from, "must not be empty")
		}
		r.url(text)
	case takeHost:
		r.url("https://" + text)
	case takePrompt:
		r.prompt(text)
	case takeWorkdir:
		return r.workdir(from, text)
	}
	return nil
}

// place adds a path that an argument names.
func (r *reader) place(a *argEntry, from, text string) error {
	file, ok := pathOf(text)
	if !ok {
		return r.wrong(from, "must be a path, not a URL")
	}
	r.path(a, file)
	return nil
}

// path adds a path target unless the call has the same already.
func (r *reader) path(a *argEntry, text string) {
	for i := range r.out.Targets {
		t := &r.out.Targets[i]
		if t.Kind == model.KindPath && t.Path.Text == text && t.Access == a.Access && t.Role == a.Role {
			return
		}
		if i == fewKeys {
			break // Many targets: an equal one only costs room.
		}
	}
	r.out.Targets = append(r.out.Targets, model.Target{
		Kind: model.KindPath, Access: a.Access, Role: a.Role, Path: model.Path{Text: text},
	})
}

// pathOf is the path that a text names: itself, or the path of a file: URL. Any
// other URL is no path.
func pathOf(text string) (string, bool) {
	scheme, _, found := strings.Cut(text, "://")
	if !found || strings.ContainsAny(scheme, "/\\. ") {
		if len(text) > 5 && strings.EqualFold(text[:5], "file:") {
			return pathOf("file://" + text[5:])
		}
		return text, true
	}
	u, err := url.Parse(text)
	if err != nil || !strings.EqualFold(scheme, "file") || u.Path == "" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	// file:///C:/x names C:/x.
	if p := u.Path; len(p) > 2 && p[0] == '/' && p[2] == ':' {
		return p[1:], true
	}
	return u.Path, true
}

// isGlob reports whether a text selects files instead of naming one. Brackets are
// left out, which are common in the names of real files: who resolves the path
// looks at the disk for what they find. {a,.env} and @(.env) are no names.
func isGlob(text string) bool {
	return strings.ContainsAny(text, "*?") || strings.Contains(text, "(") ||
		strings.Contains(text, "{") && strings.Contains(text, ",")
}

// selected adds a path of a tool that expands globs: what a glob selects cannot
// be told from the call, so the folder that it starts in stands for it.
func (r *reader) selected(a *argEntry, from, text string) error {
	if !isGlob(text) {
		return r.place(a, from, text)
	}
	r.out.Unextractable = true
	folder := *a
	folder.Role = model.RoleSearched
	return r.place(&folder, from, globFolder(text))
}

// pattern adds the folder that a glob below the searched path reaches, if it
// leaves that path: an absolute one, or one that climbs.
func (r *reader) pattern(a *argEntry, from, text string) error {
	clean := path.Clean(strings.ReplaceAll(strings.TrimPrefix(text, "!"), `\`, "/"))
	if a.Access == model.AccessRead && !strings.HasPrefix(text, "!") && !climbs(clean) && !path.IsAbs(clean) {
		// A filter of a search says which files are read.
		for _, t := range slices.Clone(r.out.Targets) {
			if t.Role == model.RoleSearched {
				r.path(a, strings.TrimSuffix(t.Path.Text, "/")+"/"+clean)
			}
		}
	}
	switch {
	case strings.HasPrefix(clean, "/"), strings.HasPrefix(clean, "~"), len(clean) > 1 && clean[1] == ':', strings.Contains(clean, "://"):
		return r.place(a, from, globFolder(clean))
	case climbs(clean):
		// Where it starts is not known here, so each searched path is one.
		for _, t := range slices.Clone(r.out.Targets) {
			if t.Role == model.RoleSearched {
				r.path(a, t.Path.Text+"/"+globFolder(clean))
			}
		}
	case strings.Contains(text, ".."):
		// A brace or an extended glob may hide a climb: {..,x}/y.
		if strings.ContainsAny(text, "{[(") {
			r.out.Unextractable = true
		}
	}
	return nil
}

func climbs(clean string) bool { return clean == ".." || strings.HasPrefix(clean, "../") }

// globFolder is the part of a glob before its first special character, cut at
// the last separator: the folder below which everything lies that it matches.
func globFolder(glob string) string {
	end := strings.IndexAny(glob, "*?[{")
	if end < 0 {
		return glob
	}
	slash := strings.LastIndexAny(glob[:end], `/\`)
	switch {
	case slash == 0:
		return "/"
	case slash < 0:
		return "."
	}
	return glob[:slash]
}

// workdir notes the folder that the call starts in.
func (r *reader) workdir(from, text string) error {
	dir, ok := pathOf(text)
	if !ok {
		return r.wrong(from, "must be a path, not a URL")
	}
	if r.out.Workdir != "" && r.out.Workdir != dir {
		return r.wrong(from, "names another folder than the call names already")
	}
	r.out.Workdir = dir
	return nil
}

// outside notes the wish to run outside the sandbox.
func (r *reader) outside(a *argEntry, from string, v value) error {
	wish := v[0] == 't'
	if v[0] != 't' && v[0] != 'f' {
		texts, ok := v.texts()
		if !ok || len(a.When) == 0 {
			return r.wrong(from, "must be true or false")
		}
		wish = slices.ContainsFunc(texts, func(s string) bool { return slices.Contains(a.When, s) })
	}
	for i := range r.out.Targets {
		if t := &r.out.Targets[i]; wish && t.Kind == model.KindCommand {
			t.OutsideSandbox = true
		}
	}
	return nil
}

func (r *reader) url(text string) {
	for i := range r.out.Targets {
		if t := &r.out.Targets[i]; t.Kind == model.KindURL && t.URL == text {
			return
		}
		if i == fewKeys {
			break
		}
	}
	r.out.Targets = append(r.out.Targets, model.Target{Kind: model.KindURL, URL: text})
}

// prompt adds the URLs in a text whose reader fetches them: in every word the
// one that starts at the first scheme.
func (r *reader) prompt(text string) {
	for word := range strings.FieldsSeq(text) {
		at := strings.Index(word, "://")
		if at < 0 {
			continue
		}
		start := at
		for start > 0 && isSchemeByte(word[start-1]) {
			start--
		}
		if start == at {
			continue
		}
		if len(r.out.Targets) > MaxTargets {
			return // The caller refuses the call.
		}
		r.url(strings.TrimRight(word[start:], ")>]}\"'`,;."))
	}
}

func isSchemeByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '-'
}
