package rules

import (
	"fmt"
	"strings"
)

// maxAlternatives bounds what braces and inner `**` of one pattern may expand
// to. Expanding once, at load, keeps matching linear: nested braces tried at
// match time take exponential time.
const maxAlternatives = 256

// expandBraces returns the patterns that the braces of a permission-file path
// pattern stand for. The pattern is valid (every brace closed).
func expandBraces(pattern string) ([]string, error) {
	done, todo := []string{}, []string{pattern}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		open, end, commas := firstBrace(p)
		if open < 0 {
			done = append(done, p)
		} else {
			from := open + 1
			for _, to := range append(commas, end) {
				todo = append(todo, p[:open]+p[from:to]+p[end+1:])
				from = to + 1
			}
		}
		if len(done)+len(todo) > maxAlternatives {
			return nil, fmt.Errorf("its braces stand for more than %d patterns: split the rule", maxAlternatives)
		}
	}
	return done, nil
}

// firstBrace finds the first group of alternatives outside classes and escapes.
func firstBrace(p string) (open, end int, commas []int) {
	depth := 0
	open = -1
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			if n := classEnd(p[i:]); n > 0 {
				i += n - 1
			}
		case '{':
			if depth++; depth == 1 {
				open = i
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth == 0 {
				return open, i, commas
			}
		}
	}
	return -1, -1, nil
}

// classEnd returns the length of the character class that p starts with, or 0.
func classEnd(p string) int {
	i := 1
	if i < len(p) && (p[i] == '^' || p[i] == '!') {
		i++
	}
	for ; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return 0
}

// expandDeep returns the patterns that a settings pattern with `**` inside a
// segment stands for: there `**` is any text, so `a**b` is `a*b` or `a*/**/*b`.
func expandDeep(pattern string) ([]string, error) {
	done, todo := []string{}, []string{pattern}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		if at, n := innerDeep(p); at < 0 {
			done = append(done, p)
		} else {
			head, tail := p[:at], p[at+n:]
			todo = append(todo, head+"*"+tail, head+"*/**/*"+tail)
		}
		if len(done)+len(todo) > maxAlternatives {
			return nil, fmt.Errorf("it holds too many `**` inside segments: split the rule")
		}
	}
	return done, nil
}

// innerDeep finds the first run of two or more stars that is not a whole segment.
func innerDeep(p string) (at, n int) {
	for start := 0; start <= len(p); {
		end := start + strings.IndexByte(p[start:]+"/", '/')
		if seg := p[start:end]; strings.Trim(seg, "*") != "" {
			if i := strings.Index(seg, "**"); i >= 0 {
				n = 2
				for i+n < len(seg) && seg[i+n] == '*' {
					n++
				}
				return start + i, n
			}
		}
		start = end + 1
	}
	return -1, 0
}
