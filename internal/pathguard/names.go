package pathguard

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds the braces of a pattern; one with more names nothing.
const maxAlternatives = 64

// Names reports whether the pattern of a rule *names* a sensitive path (SPEC
// section 3), which is what lifts step 1 of the chain for it. It does not look
// whether the pattern matches the whole path: that is the matcher's job.
//
// A pattern names rel if
//   - a segment of it is, letter for letter, the sensitive folder that rel lies
//     in: `**/.ssh/**` names .ssh/config; or
//   - its last segment matches the file name and has literal text that says so:
//     `.env.*` names .env.local, `*.pem` names server.pem.
//
// Literal text is at least two letters or digits outside of wildcards and
// classes. An extension counts only for files that are sensitive by their
// extension: `*.json` does not name credentials.json, for somebody who wrote
// it hardly thought of that file. `**`, `src/**`, `*`, `*.*` and the empty
// pattern of a bare rule name nothing. Letter case does not count; whether it
// counts for the rule is decided where the rule is matched.
func Names(pattern, rel string) bool {
	if pattern == "" {
		return false
	}
	rel = FoldName(strings.TrimRight(rel, "/"))
	base := rel[strings.LastIndexByte(rel, '/')+1:]
	byExtension := false
	var folders []string
	sensitive.folded.each(rel, func(c *compiledRow) bool {
		switch {
		case c.below:
			folders = append(folders, c.prefix)
		case !c.exact && c.prefix == "":
			byExtension = true
		}
		return true
	})
	alts, ok := alternatives(FoldName(pattern))
	if !ok {
		return false
	}
	for _, alt := range alts {
		segs := strings.Split(alt, "/")
		for _, s := range segs {
			for _, f := range folders {
				if s == f {
					return true
				}
			}
		}
		if namesFile(segs[len(segs)-1], base, byExtension) {
			return true
		}
	}
	return false
}

// SensitiveFolder reports whether a pattern holds the name of a folder whose
// files are all sensitive (.ssh, .aws, .gnupg …) literally. Letter case does
// not count.
func SensitiveFolder(pattern string) bool {
	alts, ok := alternatives(FoldName(pattern))
	if !ok {
		return false
	}
	for _, alt := range alts {
		for _, s := range strings.Split(alt, "/") {
			if len(sensitive.folded.folders[s]) > 0 {
				return true
			}
		}
	}
	return false
}

// namesFile is the second half of Names.
func namesFile(seg, base string, byExtension bool) bool {
	if ok, err := doublestar.Match(seg, base); err != nil || !ok {
		return false
	}
	if !byExtension {
		if i := strings.LastIndexByte(seg, '.'); i > 0 {
			seg = seg[:i]
		}
	}
	return literals(seg) >= 2
}

// literals counts the letters and digits of a segment that stand for themselves.
func literals(seg string) int {
	n := 0
	class := false
	for i := 0; i < len(seg); i++ {
		switch c := seg[i]; {
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '\\':
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80:
			n++
		}
	}
	return n
}

// alternatives expands the braces of a pattern: "a/{b,c}" is a/b and a/c. A
// pattern with unbalanced braces is its own only alternative, for in settings
// braces are plain text.
func alternatives(pattern string) ([]string, bool) {
	out := []string{pattern}
	for i := 0; i < len(out); {
		open, end, commas := brace(out[i])
		if end < 0 {
			i++
			continue
		}
		p := out[i]
		out = append(out[:i], out[i+1:]...)
		from := open + 1
		for _, c := range append(commas, end) {
			out = append(out, p[:open]+p[from:c]+p[end+1:])
			from = c + 1
		}
		if len(out) > maxAlternatives {
			return nil, false
		}
	}
	return out, true
}

// brace finds the first balanced brace group: its ends (-1 if there is none)
// and its commas.
func brace(p string) (open, end int, commas []int) {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			if depth == 0 {
				open, commas = i, nil
			}
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 1 {
				return open, i, commas
			}
			if depth > 0 {
				depth--
			}
		}
	}
	return 0, -1, nil
}
