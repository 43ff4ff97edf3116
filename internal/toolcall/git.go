package toolcall

import "strings"

// git reads the arguments of the git tool: a list of words, or one string of
// shell words. The descriptor is the words joined by spaces, a leading `git`
// dropped (SPEC section 1).
func (r *reader) git(from string, v value) error {
	var words []string
	if text, ok := v.text(); ok {
		split, problem := gitWords(text)
		if problem != "" {
			return r.wrong(from, problem)
		}
		words = split
	} else if words, ok = v.texts(); !ok {
		return r.wrong(from, "must be a list of strings or one string of shell words")
	}
	if len(words) > 0 && words[0] == "git" {
		words = words[1:]
	}
	descriptor := strings.Join(words, " ")
	if strings.TrimSpace(descriptor) == "" {
		return r.wrong(from, "must not be empty")
	}
	if r.descriptor != "" && r.descriptor != descriptor {
		return r.wrong(from, "says something else than another argument of the call")
	}
	r.descriptor, r.out.Git = descriptor, words
	return nil
}

// gitWords splits a string of shell words: quotes and backslashes as in a shell,
// and nothing that a shell would do more than split. It returns what is wrong,
// or "".
func gitWords(text string) (words []string, problem string) {
	var word strings.Builder
	in := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t':
			if in {
				words, in = append(words, word.String()), false
				word.Reset()
			}
		case '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return nil, "has a ' without its end"
			}
			word.WriteString(text[i+1 : i+1+end])
			in, i = true, i+1+end
		case '"':
			end, problem := doubleQuoted(text, i+1, &word)
			if problem != "" {
				return nil, problem
			}
			in, i = true, end
		case '\\':
			if i+1 == len(text) || text[i+1] == '\n' {
				return nil, "ends a line with a backslash"
			}
			i++
			word.WriteByte(text[i])
			in = true
		case ';', '&', '|', '<', '>', '(', ')', '\n', '\r', '`', '$', 0:
			return nil, "must be plain words: a shell would run or expand more than git at " + quoteByte(c) + "; give the arguments as a list"
		case '#':
			if !in {
				return nil, "must be plain words: a shell reads a comment at '#'; give the arguments as a list"
			}
			word.WriteByte(c)
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words, ""
}

// doubleQuoted reads from behind a double quote and returns the index of the
// closing one.
func doubleQuoted(text string, i int, word *strings.Builder) (end int, problem string) {
	for ; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return i, ""
		case '$', '`', 0:
			return 0, "must be plain words: a shell would expand " + quoteByte(c) + "; give the arguments as a list"
		case '\\':
			if i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0 {
				i++
				word.WriteByte(text[i])
				continue
			}
			if i+1 < len(text) && text[i+1] == '\n' {
				return 0, "ends a line with a backslash"
			}
			word.WriteByte(c)
		default:
			word.WriteByte(c)
		}
	}
	return 0, "has a \" without its end"
}

func quoteByte(c byte) string {
	switch c {
	case '\n', '\r':
		return "the end of a line"
	case 0:
		return "NUL"
	}
	return "'" + string(rune(c)) + "'"
}
