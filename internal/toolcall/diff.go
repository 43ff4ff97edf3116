package toolcall

import (
	"strconv"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// touch is what a diff does with a path.
type touch uint8

const (
	touchRead touch = 1 << iota
	touchWrite
	touchDelete
)

// touched is a path that a diff names. No touch means that only a header that
// does not say what happens named it; it counts as written.
type touched struct {
	path string
	how  touch
}

// diffFiles collects the paths of diffs, each once, in order.
type diffFiles struct {
	list []touched
	at   map[string]int
	// unclear says that the text changes something that no header names.
	unclear bool
}

func (d *diffFiles) paths() []string {
	paths := make([]string, len(d.list))
	for i := range d.list {
		paths[i] = d.list[i].path
	}
	return paths
}

func (d *diffFiles) add(path string, how touch) {
	if path == "" || path == devNull {
		return
	}
	if i, there := d.at[path]; there {
		d.list[i].how |= how
		return
	}
	if len(d.list) > MaxTargets {
		return // Decode refuses the call.
	}
	if d.at == nil {
		d.at = map[string]int{}
	}
	d.at[path] = len(d.list)
	d.list = append(d.list, touched{path, how})
}

const devNull = "/dev/null"

// ParseDiffPaths returns the paths of a unified or git diff (SPEC section 1):
// from `+++ `, `--- `, `rename from/to `, `copy from/to ` and `diff --git`
// headers, cut at a tab, unquoted, `a/` and `b/` stripped, without /dev/null,
// both sides, each once, in order. Lines inside a hunk are no headers as long as
// the hunk is as long as its own header says; where it is not, a reader that does
// not count would see headers, so their paths are there too. A diff without any
// header gives none.
func ParseDiffPaths(diff string) []string {
	var files diffFiles
	files.unified(diff)
	return files.paths()
}

// hunk counts the lines of an open hunk.
type hunk struct {
	open     bool
	old, new int
	// doubtful are header look-alikes inside the hunk: content if it ends as its
	// header says.
	doubtful []string
	// pair counts the last lines that look like `--- ` and `+++ ` headers.
	pair int
}

// unified reads the headers of a unified or git diff.
func (d *diffFiles) unified(text string) {
	var h hunk
	old := "" // the path of the last `--- ` header, until its `+++ `
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r")
		if h.open && h.take(line) {
			continue
		}
		line = strings.TrimLeft(line, " \t") // Some readers accept an indented diff.
		if h.open {
			// The hunk is over, or is not what its header says.
			d.settle(&h, line)
		}
		switch {
		case strings.HasPrefix(line, "@@"):
			if len(d.list) == 0 && old == "" {
				d.unclear = true
			}
			h = openHunk(line)
		case strings.HasPrefix(line, "Index: "):
			// Some readers take a file's name from here if there is no other.
			if _, named := d.at[headerPath(line[7:], false)]; !named && !strings.Contains(firstLines(text), "\n--- ") {
				d.unclear = true
			}
		default:
			old = d.header(line, old)
		}
	}
	if h.open {
		d.settle(&h, "")
	}
}

// firstLines is the start of a text with a line end in front: what follows an
// Index line if a diff's own headers do.
func firstLines(text string) string {
	const lines = 3
	end := 0
	for range lines {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			return "\n" + text
		}
		end += n + 1
	}
	return "\n" + text[:end]
}

// header reads one line outside of hunks and returns the path of the last
// `--- ` header that waits for its `+++ `.
func (d *diffFiles) header(line, old string) string {
	word, rest, ok := strings.Cut(line, " ")
	if !ok {
		return ""
	}
	switch word {
	case "---":
		old = headerPath(rest, true)
		d.add(old, 0)
		return old
	case "+++":
		path := headerPath(rest, true)
		if path == devNull {
			d.add(old, touchDelete)
		}
		d.add(path, touchWrite)
	case "rename", "copy":
		side, name, _ := strings.Cut(rest, " ")
		switch path := headerPath(name, false); {
		case side == "from" && word == "rename":
			d.add(path, touchDelete)
		case side == "from":
			d.add(path, touchRead)
		case side == "to":
			d.add(path, touchWrite)
		}
	case "diff":
		if names, ok := strings.CutPrefix(rest, "--git "); ok {
			for _, path := range gitNames(names) {
				d.add(path, 0)
			}
		}
	}
	return ""
}

// openHunk reads `@@ -l,n +l,n @@`. A header without counts opens no hunk, so
// every look-alike below it is a header.
func openHunk(line string) hunk {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[0] != "@@" || fields[3] != "@@" {
		return hunk{}
	}
	old, ok1 := hunkCount(fields[1], '-')
	added, ok2 := hunkCount(fields[2], '+')
	if !ok1 || !ok2 {
		return hunk{}
	}
	return hunk{open: true, old: old, new: added}
}

// hunkCount reads n of `-l,n`; it is 1 if it is absent.
func hunkCount(field string, sign byte) (int, bool) {
	if field == "" || field[0] != sign {
		return 0, false
	}
	start, count, ok := strings.Cut(field[1:], ",")
	if !ok {
		count = "1"
	}
	if _, err := strconv.ParseUint(start, 10, 31); err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(count, 10, 31)
	return int(n), err == nil
}

// take reports whether the line belongs to the hunk.
func (h *hunk) take(line string) bool {
	if h.old == 0 && h.new == 0 {
		// A last line of the hunk's file may lack its end.
		return strings.HasPrefix(line, `\`)
	}
	switch {
	case line == "" || line[0] == ' ':
		h.old--
		h.new--
	case line[0] == '-':
		h.old--
	case line[0] == '+':
		h.new--
	case line[0] == '\\':
	default:
		return false
	}
	if h.old < 0 || h.new < 0 {
		return false
	}
	// Readers that do not count look at the start of the line, or behind blanks.
	if line = strings.TrimLeft(line, " \t"); strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") {
		h.doubtful = append(h.doubtful, line)
		switch {
		case line[0] == '-':
			h.pair = 1
		case h.pair == 1:
			h.pair = 2
		default:
			h.pair = 0
		}
		return true
	}
	h.pair = 0
	return true
}

// settle ends a hunk before the line next. If it is not as long as its header
// says, or if its end and the next hunk would be the start of another file, its
// look-alikes are headers.
func (d *diffFiles) settle(h *hunk, next string) {
	if h.old != 0 || h.new != 0 || h.pair == 2 && strings.HasPrefix(next, "@@") {
		old := ""
		for _, line := range h.doubtful {
			old = d.header(line, old)
		}
	}
	*h = hunk{}
}

// targets adds the paths of the collected files to the call.
func (d *diffFiles) targets(r *reader, from string) error {
	for i := range d.list {
		f := &d.list[i]
		text, ok := pathOf(f.path)
		if !ok {
			return r.wrong(from, "names a URL where a path is needed")
		}
		if f.how&touchRead != 0 {
			r.path(&argEntry{Access: model.AccessRead, Role: model.RoleSource}, text)
		}
		switch {
		case f.how&touchDelete != 0:
			r.path(&argEntry{Access: model.AccessDelete}, text)
		case f.how&touchWrite != 0 || f.how == 0:
			r.path(&argEntry{Access: model.AccessWrite}, text)
		}
	}
	return nil
}

// beyondUnified reports what a reader of unified diffs overlooks and a patch
// program does not: headers of context diffs, and files that become links.
func beyondUnified(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "new mode 120000") || strings.HasPrefix(line, "new file mode 120000") {
			return true
		}
		if rest, ok := strings.CutPrefix(line, "*** "); ok {
			word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			switch word {
			case "Begin", "End", "Add", "Update", "Delete", "Move":
			default:
				return true
			}
		}
	}
	return false
}

// diff reads a unified diff or a patch. What cannot be read out of it makes the
// call Unextractable.
func (r *reader) diff(a *argEntry, from string, v value) error {
	texts, ok := v.texts()
	if !ok {
		return r.wrong(from, "must be a string")
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		return r.wrong(from, "must not be empty")
	}
	var files diffFiles
	switch outside, found := files.patch(text); {
	case !found, a.Take == takeDiff:
		// A reader of diffs sees the whole text.
		files.unified(text)
	case outside != "":
		files.unclear = true
		files.unified(outside)
	}
	if len(files.list) == 0 || files.unclear || beyondUnified(text) {
		r.out.Unextractable = true
	}
	return files.targets(r, from)
}
