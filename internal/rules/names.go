package rules

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/pathguard"
)

// names reports whether a path pattern names what it matches, so that an allow
// or ask rule may speak of a sensitive file (SPEC section 3): its last segment
// has literal text, or it holds a sensitive folder's name literally. Both then
// hold for every path that the pattern matches. Punctuation alone is no name:
// `*.*` names nothing. folders remembers which names are sensitive folders.
func (g *pathGlob) names(fold bool, folders map[string]bool) bool {
	n := len(g.segments)
	if n == 0 {
		return false
	}
	if last := &g.segments[n-1]; !last.deep && last.hasWord() {
		return true
	}
	for i := range g.segments {
		s := &g.segments[i]
		if s.deep || s.tokens != nil {
			continue
		}
		sensitive, known := folders[s.lit]
		if !known {
			sensitive = sensitiveFolder(s.lit, fold)
			folders[s.lit] = sensitive
		}
		if sensitive {
			return true
		}
	}
	return false
}

func (g *segment) hasWord() bool {
	if g.tokens == nil {
		return hasWord(g.lit)
	}
	for i := range g.tokens {
		if hasWord(g.tokens[i].text) {
			return true
		}
	}
	return false
}

func hasWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f || isLetter(byte(r)) || isDigit(byte(r)) }) >= 0
}

// folderProbes are file names that are not sensitive by themselves, but are in
// some sensitive folder.
var folderProbes = []string{"known_hosts", "config", "config.json", "auth.json", "hosts.yml", "settings.json"}

// sensitiveFolder reports whether files are sensitive because they lie in a
// folder of this name.
func sensitiveFolder(name string, fold bool) bool {
	for _, probe := range folderProbes {
		if !pathguard.Sensitive(probe, fold) && pathguard.Sensitive(name+"/"+probe, fold) {
			return true
		}
	}
	return false
}
