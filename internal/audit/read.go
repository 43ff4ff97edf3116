package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Filter says which events to read. Empty fields do not filter.
type Filter struct {
	// Since and Until bound the time of an event: Since <= time < Until.
	Since, Until time.Time
	// Denials keeps denials only.
	Denials bool
	// Types, Tools, Classes, Risks and Agents keep events that have one of these
	// values. A tool or class may end with '*'.
	Types   []Type
	Tools   []string
	Classes []Class
	Risks   []Risk
	Agents  []string
	// CallID and Segment keep one call and one segment (its id).
	CallID  string
	Segment string
	// Contains keeps lines that hold this text as written in the log.
	Contains string
	// System also gives the log's own events (header, end, gap, …).
	System bool
	// Limit keeps the last so many events; nil keeps all, 0 none.
	Limit *int
	// FS is the file system. Nil means OSFS.
	FS FS
}

// Check refuses types, classes and risks that no event has: a misspelt one would
// keep nothing, and look like a log in which nothing happened.
func (f *Filter) Check() error {
	for _, t := range f.Types {
		if !slices.Contains(allTypes, t) {
			return fmt.Errorf("there are no events of the type %q; the types are %s", t, list(allTypes))
		}
	}
	for _, c := range f.Classes {
		if !slices.ContainsFunc(allClasses, func(known Class) bool { return matches(string(c), string(known)) }) {
			return fmt.Errorf("there is no decision %q; decisions are %s, and deny_* or allow_* is all of a kind", c, list(allClasses))
		}
	}
	for _, r := range f.Risks {
		if !slices.Contains(allRisks, r) {
			return fmt.Errorf("there is no risk %q; the risks are %s", r, list(allRisks))
		}
	}
	return nil
}

func list[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = string(one)
	}
	return strings.Join(words, ", ")
}

// LineError says that a line of the log cannot be read. The lines behind it
// still can.
type LineError struct {
	File string
	Line uint64
	Err  error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("audit: %s:%d: %v; see `lictor audit verify`", e.File, e.Line, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// Show reads the events of a log in the order of their times (lines of one
// segment stay in order), in bounded memory. A damaged line is given as a
// *LineError and reading goes on; a folder that cannot be listed is a *DirError
// and ends it. Show checks no hashes: that is Verify's job. Every
// event is a new value.
func Show(ctx context.Context, dir string, f Filter) iter.Seq2[*Event, error] {
	return showUpTo(ctx, dir, f, nil)
}

// read decodes a line. It returns nothing if the filter drops it.
func (f *Filter) read(path string, n uint64, line []byte) (*Event, error) {
	if !f.maybe(line) {
		return nil, nil
	}
	e, err := decodeLine(line)
	if err != nil {
		return nil, &LineError{path, n, err}
	}
	if !f.Keeps(e) {
		return nil, nil
	}
	return e, nil
}

// emit decodes a line, filters it and yields it.
func emit(f *Filter, path string, n uint64, line []byte, yield func(*Event, error) bool) bool {
	e, err := f.read(path, n, line)
	if e == nil && err == nil {
		return true
	}
	return yield(e, err)
}

// place is where a line is, for the last N events.
type place struct {
	path string
	line uint64
	at   int64
	n    int
}

// showLast yields the last limit events: the places of the lines that count are
// kept in a ring, and only the lines themselves are read again.
func showLast(ctx context.Context, dir string, f Filter, limit int, stops map[string]*position, yield func(*Event, error) bool) {
	f.Limit = nil
	m, err := newMerge(dir, &f)
	if err != nil {
		yield(nil, err)
		return
	}
	m.stops = stops
	defer m.close()
	if limit <= 0 {
		return
	}
	var ring []place
	oldest := 0
	for ctx.Err() == nil {
		src, line, err := m.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if !yield(nil, err) {
				return
			}
			continue
		}
		e, err := f.read(src.path, src.line, line)
		if err != nil {
			if !yield(nil, err) {
				return
			}
			continue
		}
		if e == nil {
			continue
		}
		p := place{src.path, src.line, src.at, len(line)}
		if len(ring) < limit {
			ring = append(ring, p)
		} else {
			ring[oldest] = p
			oldest = (oldest + 1) % limit
		}
	}
	if ctx.Err() != nil {
		yield(nil, ctx.Err())
		return
	}
	for i := range ring {
		p := ring[(oldest+i)%len(ring)]
		line, err := readPlace(f.FS, p)
		if err != nil {
			if !yield(nil, &LineError{p.path, p.line, err}) {
				return
			}
			continue
		}
		if !emit(&f, p.path, p.line, line, yield) {
			return
		}
	}
}

func readPlace(fsys FS, p place) ([]byte, error) {
	f, err := orOS(fsys).OpenRead(p.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line := make([]byte, p.n)
	if n, err := f.ReadAt(line, p.at); n < len(line) {
		return nil, err
	}
	return line, nil
}

func orOS(fsys FS) FS {
	if fsys == nil {
		return OSFS
	}
	return fsys
}

// Collect is Show as a list, for small results. Damaged lines are given
// together in the error; the events beside them are there.
func Collect(ctx context.Context, dir string, f Filter) ([]*Event, error) {
	events := []*Event{}
	var errs []error
	for e, err := range Show(ctx, dir, f) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		events = append(events, e)
	}
	return events, errors.Join(errs...)
}

// maybe is a cheap test on the bytes of a line, before it is decoded.
func (f *Filter) maybe(line []byte) bool {
	if f.Denials && !bytes.Contains(line, []byte(`"decision":"deny`)) {
		return false
	}
	return f.Contains == "" || bytes.Contains(line, []byte(f.Contains))
}

// Keeps reports whether the filter keeps an event (Contains and Limit are not
// about the event and do not count).
func (f *Filter) Keeps(e *Event) bool {
	switch {
	case !f.System && e.Type.system() && len(f.Types) == 0,
		!f.Since.IsZero() && e.Time.Before(f.Since),
		!f.Until.IsZero() && !e.Time.Before(f.Until),
		f.Denials && !e.Class.Denied(),
		len(f.Types) > 0 && !slices.Contains(f.Types, e.Type),
		len(f.Risks) > 0 && !slices.Contains(f.Risks, e.Risk),
		len(f.Agents) > 0 && !slices.Contains(f.Agents, e.Agent),
		f.CallID != "" && e.CallID != f.CallID,
		f.Segment != "" && e.Segment != f.Segment:
		return false
	}
	if len(f.Tools) > 0 && !slices.ContainsFunc(f.Tools, func(t string) bool { return matches(t, e.Tool) }) {
		return false
	}
	return len(f.Classes) == 0 || slices.ContainsFunc(f.Classes, func(c Class) bool { return matches(string(c), string(e.Class)) })
}

func matches(pattern, s string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(s, prefix)
	}
	return pattern == s
}

// Follow is Show without end: it first gives what is there, then what is
// written, until ctx is done (that is no error). New lines are looked for four
// times a second.
func Follow(ctx context.Context, dir string, f Filter) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		fw := follower{fs: orOS(f.FS), dir: dir, f: &f, at: make(map[string]*position)}
		// What is skipped by Show's limit must not be given again.
		if err := fw.mark(); err != nil {
			yield(nil, err)
			return
		}
		for e, err := range showUpTo(ctx, dir, f, fw.at) {
			if ctx.Err() != nil {
				return
			}
			if !yield(e, err) {
				return
			}
		}
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if !fw.poll(yield) {
				return
			}
		}
	}
}

// position is how far a segment was read.
type position struct {
	at   int64
	line uint64
}

type follower struct {
	fs  FS
	dir string
	f   *Filter
	at  map[string]*position
}

// mark notes where each segment's last whole line ends now.
func (fw *follower) mark() error {
	names, err := segmentNames(fw.fs, fw.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		f, err := fw.fs.OpenRead(filepath.Join(fw.dir, n))
		if err != nil {
			continue
		}
		p := &position{}
		if info, err := f.Stat(); err == nil {
			if t, err := readTail(f, info.Size); err == nil {
				p.at, p.line = t.end, t.count
			}
		}
		f.Close()
		fw.at[n] = p
	}
	return nil
}

// poll gives the whole lines that are new.
func (fw *follower) poll(yield func(*Event, error) bool) bool {
	names, err := segmentNames(fw.fs, fw.dir)
	if err != nil {
		return yield(nil, err)
	}
	for _, n := range names {
		p := fw.at[n]
		if p == nil {
			p = &position{}
			fw.at[n] = p
		}
		if !fw.news(n, p, yield) {
			return false
		}
	}
	return true
}

func (fw *follower) news(name string, p *position, yield func(*Event, error) bool) bool {
	path := filepath.Join(fw.dir, name)
	info, err := fw.fs.Stat(path)
	if err != nil || info.Size <= p.at || !info.Mode.IsRegular() {
		return true
	}
	f, err := fw.fs.OpenRead(path)
	if err != nil {
		return yield(nil, fmt.Errorf("audit: %w", err))
	}
	defer f.Close()
	r := newLineReader(f, p.at, info.Size-p.at+1, maxLine)
	for {
		line, _, err := r.next()
		if err != nil || line[len(line)-1] != '\n' {
			return true // the end, or a line that is being written
		}
		p.at = r.offset()
		p.line++
		if !emit(fw.f, path, p.line, line, yield) {
			return false
		}
	}
}
