package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold returns the one spelling that stands for all spellings of s that a
// case-insensitive file system takes for the same name. ASCII is lower-cased;
// other text is decomposed, folded in full and stripped of the code points that
// such file systems ignore.
func fold(s string) string {
	ascii, upper := true, false
	for i := 0; i < len(s); i++ {
		ascii = ascii && s[i] < utf8.RuneSelf
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
	}
	switch {
	case ascii && !upper:
		return s
	case ascii:
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(s)))
}

// foldInto is fold into a buffer that is used again, for ASCII text.
func foldInto(buf *[]byte, s string) string {
	upper := false
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return fold(s)
		}
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
	}
	if !upper {
		return s
	}
	b := (*buf)[:0]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	*buf = b
	return view(b)
}

// blanks folds every run of white space to one blank and drops it at both ends.
func blanks(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
