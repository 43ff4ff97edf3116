package audit

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Anchor is a point of a log, to be kept where the log's writer cannot reach: a
// CI log, a ticket, another machine.
type Anchor struct {
	Log string
	Point
}

// String is the anchor's line: "lictor-audit/<log>/<segment> <lines> <hash>".
func (a Anchor) String() string {
	return fmt.Sprintf("%s%s/%s %d %s", originPrefix, a.Log, a.File, a.Count, a.Head)
}

// Head gives the anchors of a log as it is now, one per segment, oldest first.
// It reads the ends of the segments only and verifies nothing. The error is a
// *DirError, or names a segment whose end is damaged.
func Head(dir string, fsys FS) ([]Anchor, error) {
	if fsys == nil {
		fsys = OSFS
	}
	names, err := segmentNames(fsys, dir)
	if err != nil {
		return nil, err
	}
	var out []Anchor
	for _, n := range names {
		path := filepath.Join(dir, n)
		f, err := fsys.OpenRead(path)
		if err != nil {
			return out, fmt.Errorf("audit: %w", err)
		}
		info, err := f.Stat()
		var t *tail
		if err == nil {
			t, err = readTail(f, info.Size)
		}
		f.Close()
		if err == nil && t.bad {
			err = fmt.Errorf("its end is damaged; see `lictor audit verify`")
		}
		if err != nil {
			return out, fmt.Errorf("audit: %s: %w", path, err)
		}
		if t.count > 0 {
			out = append(out, Anchor{logName(dir), Point{File: n, Count: t.count, Head: string(t.head[:]), Bytes: t.end}})
		}
	}
	return out, nil
}

// ParseAnchors reads anchor lines as Head prints them. Blank lines and those
// that start with '#' are skipped; any other is an error that names the line.
func ParseAnchors(r io.Reader) ([]Anchor, error) {
	var out []Anchor
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		f := strings.Fields(text)
		bad := fmt.Errorf("audit: anchors line %d: want \"lictor-audit/<log>/<segment> <lines> <hash>\"", n)
		if len(f) != 3 {
			return nil, bad
		}
		origin, ok := strings.CutPrefix(f[0], originPrefix)
		log, file, named := strings.Cut(origin, "/")
		count, counted := parsePlace(f[1])
		head, err := hex.DecodeString(f[2])
		if !ok || !named || !counted || err != nil || len(head) != hexLen/2 || f[2] != strings.ToLower(f[2]) || !isSegment(file) {
			return nil, bad
		}
		out = append(out, Anchor{log, Point{File: file, Count: count, Head: f[2]}})
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("audit: anchors: %w", err)
	}
	return out, nil
}
