package toolcall

import "strings"

// headerPath is the path of a diff header: cut at a tab, unquoted, and without
// a/ or b/ if the header has sides.
func headerPath(s string, sides bool) string {
	path, quoted := "", false
	if strings.HasPrefix(s, `"`) {
		path, _, quoted = unquoteGit(s)
	}
	if !quoted {
		path, _, _ = strings.Cut(s, "\t")
		path = strings.TrimRight(path, " \r")
	}
	if sides {
		return stripSide(path)
	}
	return path
}

// stripSide drops the a/ or b/ that git puts in front of the two sides.
func stripSide(path string) string {
	if strings.HasPrefix(path, "a/") || strings.HasPrefix(path, "b/") {
		return path[2:]
	}
	return path
}

// maxSplits is how many ways to cut a `diff --git` line in two are looked at.
const maxSplits = 64

// gitNames are the paths of a `diff --git` line. Git writes both names without a
// separator of their own, so a line with blanks in names can be read in several
// ways; the one with equal names is git's, and if there is none, every reading
// counts.
func gitNames(s string) []string {
	if strings.HasPrefix(s, `"`) {
		first, rest, ok := unquoteGit(s)
		if ok {
			return []string{stripSide(first), headerPath(strings.TrimPrefix(rest, " "), true)}
		}
	}
	if at := strings.Index(s, ` "`); at > 0 && strings.HasSuffix(strings.TrimRight(s, " \r"), `"`) {
		return []string{headerPath(s[:at], true), headerPath(s[at+1:], true)}
	}
	s = strings.TrimRight(s, " \r")
	var sided, any []string
	for at, n := 0, 0; n < maxSplits; n++ {
		next := strings.IndexByte(s[at:], ' ')
		if next < 0 {
			break
		}
		at += next
		left, right := headerPath(s[:at], true), headerPath(s[at+1:], true)
		if left == right && left != "" {
			return []string{left}
		}
		if strings.HasPrefix(s[at+1:], "b/") {
			sided = append(sided, left, right)
		}
		any = append(any, left, right)
		at++
	}
	if sided != nil {
		return sided
	}
	return any
}

// unquoteGit reads a C-style quoted path as git writes it (octal bytes, \t \n
// \" \\ …) and returns what follows the closing quote.
func unquoteGit(s string) (path, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			if at := strings.IndexByte(`abfnrtv"\`, s[i]); at >= 0 {
				b.WriteByte("\a\b\f\n\r\t\v\"\\"[at])
				continue
			}
			if i+2 >= len(s) || !octal(s[i], '3') || !octal(s[i+1], '7') || !octal(s[i+2], '7') {
				return "", "", false
			}
			b.WriteByte((s[i]-'0')<<6 | (s[i+1]-'0')<<3 | (s[i+2] - '0'))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

func octal(c, most byte) bool { return '0' <= c && c <= most }
