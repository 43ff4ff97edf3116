package config

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// mark is a key or list item whose line somebody wants to know.
type mark struct {
	line  int
	inner map[string]*mark
}

// lineOf returns the line (from 1) of the key or item at the path, or of its
// nearest ancestor; 0 if there is none.
func (d *document) lineOf(path []string) int { return d.linesOf([][]string{path})[0] }

// linesOf does what lineOf does for several paths in one walk. It is only called
// for errors, so that reading costs nothing for it.
func (d *document) linesOf(paths [][]string) []int {
	wanted := &mark{}
	for _, path := range paths {
		at := wanted
		for _, key := range path {
			if at.inner == nil {
				at.inner = map[string]*mark{}
			}
			if at.inner[key] == nil {
				at.inner[key] = &mark{}
			}
			at = at.inner[key]
		}
	}
	l := &locator{text: d.text, decoder: json.NewDecoder(bytes.NewReader(d.text))}
	l.walk(wanted)
	lines := make([]int, len(paths))
	for i, path := range paths {
		at := wanted
		for _, key := range path {
			if at = at.inner[key]; at.line == 0 {
				break
			}
			lines[i] = at.line
		}
	}
	return lines
}

// locator walks a text that was read before, so there are no errors.
type locator struct {
	text    []byte
	decoder *json.Decoder
	// at and lines remember the last position, so that every line is counted once.
	at, lines int
}

// line returns the line of the decoder's position.
func (l *locator) line() int {
	end := min(int(l.decoder.InputOffset()), len(l.text))
	l.lines += bytes.Count(l.text[l.at:end], []byte("\n"))
	l.at = end
	return l.lines + 1
}

// walk passes over one value. wanted is nil where nothing inside is wanted.
func (l *locator) walk(wanted *mark) {
	token, err := l.decoder.Token()
	if err != nil {
		return
	}
	delim, _ := token.(json.Delim)
	for i := 0; (delim == '{' || delim == '[') && l.decoder.More(); i++ {
		key := strconv.Itoa(i)
		if delim == '{' {
			token, err := l.decoder.Token()
			if err != nil {
				return
			}
			key, _ = token.(string)
		}
		var inner *mark
		if wanted != nil {
			inner = wanted.inner[key]
		}
		if inner != nil && delim == '{' {
			inner.line = l.line()
		}
		l.walk(inner)
		if inner != nil && delim == '[' {
			inner.line = l.line() // where the item ends: before it is a comma
		}
	}
	if delim == '{' || delim == '[' {
		_, _ = l.decoder.Token() // the closing delimiter
	}
}

// displayPath writes a path for people: "network.allow[2]", keys quoted as a whole.
func displayPath(path []string) string { return strconv.Quote(short(joinPath(path))) }

func joinPath(path []string) string {
	var b strings.Builder
	for i, element := range path {
		switch _, err := strconv.Atoi(element); {
		case err == nil && i > 0:
			b.WriteString("[" + element + "]")
		case i > 0:
			b.WriteString("." + element)
		default:
			b.WriteString(element)
		}
	}
	return b.String()
}
