package shell

import (
	"strings"
	"unicode/utf8"
)

// The limits of SPEC section 2. They come before the parser, which has none:
// deep nesting overflows Go's stack, and no recover catches that.
const (
	// MaxBytes is the longest text that is read.
	MaxBytes = 64 << 10
	// MaxDepth is the deepest nesting of brackets, and of statements.
	MaxDepth = 200
	// maxKeywords bounds unclosed if/while/case words, which nest as well.
	maxKeywords = 2000
	// MaxParts is the largest number of parts of a text that a rule can allow.
	MaxParts = 512
	// maxListed is how many parts are listed at all: deny rules see more than
	// allow rules do.
	maxListed = 4096
	// MaxFiles is how many file operands are listed: a text with as many may have more.
	MaxFiles = 4096
	maxStmts = 16384
	// maxNest is how deep scripts inside scripts and wrappers inside wrappers
	// are followed.
	maxNest = 12
	// maxInner bounds the inner commands of one part, maxSteps the work of
	// finding them in one text.
	maxInner = 256
	maxSteps = 20000
)

// byteClass sorts bytes for the first look at a text.
type byteClass uint8

const (
	byteOpen byteClass = 1 + iota
	byteClose
	byteCtrl
	byteHigh
)

var byteClasses = func() (t [256]byteClass) {
	for b := range 256 {
		switch {
		case b == '(' || b == '{' || b == '[':
			t[b] = byteOpen
		case b == ')' || b == '}' || b == ']':
			t[b] = byteClose
		case b == '\t' || b == '\n':
		case b < 0x20 || b == 0x7f:
			t[b] = byteCtrl
		case b >= utf8.RuneSelf:
			t[b] = byteHigh
		}
	}
	return t
}()

// checkText looks at the raw text (stage 0) and reports every reason not to
// parse it through add. It reads the text once.
func checkText(text string, add func(reason)) (parse bool) {
	if len(text) > MaxBytes {
		add(rTooLong)
		return false
	}
	parse = true
	refuse := func(r reason) { add(r); parse = false }
	depth, high := 0, false
	for i := 0; i < len(text); i++ {
		switch byteClasses[text[i]] {
		case 0:
		case byteOpen:
			if depth++; depth > MaxDepth {
				refuse(rTooDeep)
				return false
			}
		case byteClose:
			if depth > 0 {
				depth--
			}
		case byteCtrl:
			switch text[i] {
			case 0:
				refuse(rNul)
			case '\r':
				refuse(rCR)
			default:
				refuse(rCtrl)
			}
		case byteHigh:
			high = true
		}
	}
	if high {
		checkUnicode(text, refuse)
	}
	if len(text) > maxKeywords && keywordDepth(text) {
		refuse(rTooDeep)
	}
	return parse
}

// checkUnicode refuses text that a person cannot see as the shell does.
func checkUnicode(text string, refuse func(reason)) {
	prev := rune(0)
	for i, r := range text {
		if r < utf8.RuneSelf {
			prev = r
			continue
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				refuse(rBadUTF8)
				return
			}
		}
		switch {
		case r <= 0x9f:
			refuse(rCtrl)
		case invisible(r, prev, text[i:]):
			refuse(rInvisible)
		}
		prev = r
	}
}

// invisible reports blanks that no shell takes for a blank, and runes that
// have no width or turn the text around. Emoji joiners and the wide blank of
// Chinese and Japanese prose stand in everyday commit messages and are let
// through where they belong.
func invisible(r, prev rune, rest string) bool {
	switch {
	case r == 0x200d: // joiner inside an emoji
		return !(prev >= 0x1f000 || prev == 0xfe0f || prev >= 0x2190 && prev <= 0x2bff)
	case r == 0x3000: // wide blank between wide letters
		next, _ := utf8.DecodeRuneInString(rest[len("\u3000"):])
		return !(prev >= 0x2e80 || next >= 0x2e80 && next != utf8.RuneError)
	case r == 0xa0, r == 0xad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x1680, r == 0x17b4, r == 0x17b5, r == 0x180e,
		r >= 0x2000 && r <= 0x200f, r >= 0x2028 && r <= 0x202f, r >= 0x205f && r <= 0x206f,
		r == 0x2800, r == 0x3164, r == 0xfeff, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb,
		r >= 0xe000 && r <= 0xf8ff, r >= 0xe0000:
		return true
	}
	return false
}

// keywordDepth reports more than maxKeywords unclosed compound keywords: they
// nest as brackets do.
func keywordDepth(text string) bool {
	depth := 0
	for len(text) > 0 {
		i := strings.IndexAny(text, " \t\n;&|()")
		word := text
		if i >= 0 {
			word, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		switch word {
		case "if", "while", "until", "for", "case", "select", "time", "coproc", "function", "!", "elif":
			if depth++; depth > maxKeywords {
				return true
			}
		case "fi", "done", "esac":
			if depth > 0 {
				depth--
			}
		}
	}
	return false
}
