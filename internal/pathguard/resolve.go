package pathguard

import (
	"strings"
	"syscall"

	"github.com/lictor-policy/lictor/internal/model"
)

// Resolve says where a path lies, as written and really. An empty path and "."
// are the root (with a cwd: the cwd). A leading "~" or "~/" is the home folder;
// a relative path starts at cwd, a relative or empty cwd at the root. The file
// need not exist.
//
// Errors: *[InputError] for a text that can never be a path, *[ResolveError]
// for everything that keeps the path from being resolved. With a ResolveError
// the returned path still has Text, Abs, Rel and Inside, so that the denial can
// name it; RealInside is false.
func (g *Guard) Resolve(text, cwd string) (model.Path, error) {
	full, err := g.absolute(text, cwd)
	if err != nil {
		return model.Path{Text: text}, err
	}
	p := model.Path{Text: text, Abs: clean(full)}
	p.Rel, p.Inside = g.relative(p.Abs)

	w, err := g.walk(full, p.Abs)
	if err != nil {
		return p, &ResolveError{Path: text, At: w.real, Err: err}
	}
	g.setReal(&p, w)
	if w.links > 0 && p.Abs != full {
		if err := g.checkCleaned(&p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// setReal fills in what the walk found.
func (g *Guard) setReal(p *model.Path, w walked) {
	p.Real = w.real
	p.RealRel, p.RealInside = p.Real, false
	if rest, ok := g.within(p.Real, g.real); ok && !w.magic {
		p.RealRel, p.RealInside = rest, true
	}
	if p.Inside {
		p.Moved = !p.RealInside || p.RealRel != p.Rel
	} else {
		p.Moved = p.Real != p.Abs
	}
	if w.place == "" {
		return
	}
	place := w.place
	if rest, ok := g.within(place, g.real); ok {
		place = rest
	}
	if place != p.Rel && place != p.RealRel {
		p.Place = place
	}
}

// checkCleaned looks at the second reading of a path that has ".." (or an empty
// segment) and passes a link. A tool that cleans the text first opens p.Abs. If
// that is what Rel says, or the same file as the kernel's reading, then the
// facts of p cover both readings; if it leads on to a third place, no field of
// p would show it, so the path is refused.
func (g *Guard) checkCleaned(p *model.Path) error {
	w, err := g.walk(p.Abs, p.Abs)
	if err != nil {
		p.RealInside = false
		return &ResolveError{Path: p.Text, At: w.real, Err: err}
	}
	if w.real == p.Real && !w.magic {
		return nil
	}
	rest := w.real
	if r, ok := g.within(w.real, g.real); ok && !w.magic {
		rest = r
	}
	if rest == p.Rel {
		return nil
	}
	p.RealInside = false
	return &ResolveError{Path: p.Text, Err: ErrAmbiguous}
}

// absolute joins a path to home or cwd without cleaning it: what ".." means is
// decided by the walk.
func (g *Guard) absolute(text, cwd string) (string, error) {
	if strings.IndexByte(text, 0) >= 0 || strings.IndexByte(cwd, 0) >= 0 {
		return "", &InputError{Path: text, Reason: "a path cannot hold a NUL byte"}
	}
	if len(text) > maxText || len(cwd) > maxText {
		return "", &ResolveError{Path: text, Err: syscall.ENAMETOOLONG}
	}
	if text != "" && text[0] == '~' {
		return g.tilde(text, cwd)
	}
	return g.join(text, cwd)
}

// join makes text absolute against cwd, and cwd against the root.
func (g *Guard) join(text, cwd string) (string, error) {
	full, err := joinPath(g.root, cwd, text)
	if err != nil {
		return "", &InputError{Path: text, Reason: err.Error()}
	}
	return full, nil
}

// tilde expands "~" and "~/x". "~name" is another user's home for shells and
// for some tools and a plain file name for the others: it is taken as a file
// name only where such an entry exists, or where the name cannot be a user's.
func (g *Guard) tilde(text, cwd string) (string, error) {
	if onWindows {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	head, rest, _ := strings.Cut(text, "/")
	if head == "~" {
		if g.home == "" {
			return "", &InputError{Path: text, Reason: `"~" cannot be expanded: the home folder is not known`}
		}
		return g.join(g.home+"/"+rest, "")
	}
	full, err := g.join(text, cwd)
	if err != nil || !userName(head[1:]) {
		return full, err
	}
	entry, err := g.join(head, cwd)
	if err != nil {
		return "", err
	}
	if w, err := g.walk(entry, entry); err != nil || w.missing > 0 {
		return "", &InputError{Path: text, Reason: `"` + Escape(short(head)) + `" may mean another user's home folder; write the absolute path, or "./` + Escape(short(head)) + `" for a file of that name`}
	}
	return full, nil
}

// userName reports whether s could be the name of a user.
func userName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return s != ""
}

// relative returns the path relative to the root and true, or the path itself
// and false. A path written with the root's real path counts as inside too: a
// root under a link (/tmp on macOS) has two spellings.
func (g *Guard) relative(abs string) (string, bool) {
	if rest, ok := g.within(abs, g.root); ok {
		return rest, true
	}
	if g.real != g.root {
		if rest, ok := g.within(abs, g.real); ok {
			return rest, true
		}
	}
	return abs, false
}

// within is under for one of the root's two paths. Where only the folded names
// agree, the disk is asked whether they name the root: a file system that tells
// letter case apart (they exist on macOS, too) may hold another folder there.
func (g *Guard) within(p, dir string) (string, bool) {
	rest, ok := under(p, dir, g.fold)
	if !ok || !g.fold || strings.HasPrefix(p, dir) {
		return rest, ok
	}
	prefix := p
	if rest != "." {
		prefix = p[:len(p)-len(rest)-1]
	}
	if !g.same(prefix) {
		return "", false
	}
	return rest, true
}

// walk resolves an absolute, uncleaned path. It starts at the real root if the
// path is written below the root and the root is still the folder it was.
// Otherwise it starts at the top, so that a root that was swapped for a link is
// seen as what it is now. hint is the likely result.
func (g *Guard) walk(full, hint string) (walked, error) {
	if rest, ok := below(full, g.root); ok && g.unchanged() {
		return walkFrom(g.real, rest, hint)
	}
	return walkFrom("", full, hint)
}

// below cuts the exact prefix dir from p at a segment boundary.
func below(p, dir string) (string, bool) {
	if !strings.HasPrefix(p, dir) || len(p) > len(dir) && p[len(dir)] != '/' {
		return "", false
	}
	return p[len(dir):], true
}

// MustInside returns the absolute path as written if the path lies in the root
// both as written and really.
//
// Errors: those of Resolve, or *[OutsideRootError].
func (g *Guard) MustInside(text, cwd string) (string, error) {
	p, err := g.Resolve(text, cwd)
	if err != nil {
		return "", err
	}
	if !p.Inside || !p.RealInside {
		return "", &OutsideRootError{Path: text, Real: p.Real, Root: g.root}
	}
	return p.Abs, nil
}

// Filter returns the paths that a bulk reader (grep, glob, an index) may show,
// in their order: those that resolve, lie in the root as written and really,
// and are not hidden by hide (nil hides nothing more). Relative paths start at
// the root.
func (g *Guard) Filter(paths []string, hide func(model.Path) bool) []string {
	kept := make([]string, 0, len(paths))
	for _, text := range paths {
		p, err := g.Resolve(text, "")
		if err != nil || !p.Inside || !p.RealInside || hide != nil && hide(p) {
			continue
		}
		kept = append(kept, text)
	}
	return kept
}
