package pathguard

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// under returns p relative to dir ("." for dir itself) and true if p is dir or
// lies below it. Both are clean and absolute. With fold, names that differ only
// in letter case or Unicode normalisation are the same name.
func under(p, dir string, fold bool) (string, bool) {
	if dir == "/" {
		dir = ""
	}
	if rest, ok := below(p, dir); ok {
		if len(rest) <= 1 {
			return ".", true
		}
		return rest[1:], true
	}
	if !fold {
		return "", false
	}
	// Names may fold to other lengths: compare name by name, not by bytes.
	for dir != "" {
		var a, b string
		a, dir = cut(dir)
		if p == "" {
			return "", false
		}
		b, p = cut(p)
		if a != b && FoldName(a) != FoldName(b) {
			return "", false
		}
	}
	if len(p) <= 1 {
		return ".", true
	}
	return p[1:], true
}

// cut splits "/a/b" (or "C:/a/b") into the first name and the rest, which keeps
// its slash.
func cut(p string) (string, string) {
	p = strings.TrimPrefix(p, "/")
	i := strings.IndexByte(p, '/')
	if i < 0 {
		return p, ""
	}
	return p[:i], p[i:]
}

// FoldName returns the form of a name or path in which a case-insensitive file
// system compares it. ASCII names cost no allocation unless they have capitals.
// Other names are decomposed, folded in full (ß is ss) and stripped of the code
// points that such file systems ignore (zero-width characters, for which Git
// once wrote into .git); this folds more than any one system does, and more
// names being alike means more of them sensitive or protected.
func FoldName(s string) string {
	ascii, upper := true, false
	for i := 0; i < len(s); i++ {
		ascii = ascii && s[i] < 0x80
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
	}
	switch {
	case ascii && !upper:
		return s
	case ascii:
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(s)))
}

// ignorable reports the code points that file systems leave out of comparisons.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
