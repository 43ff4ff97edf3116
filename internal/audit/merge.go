package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
)

// maxSources is how many segments are read side by side. Where more processes
// wrote at one time, the order between them is only nearly that of time.
const maxSources = 64

// source is one segment being read.
type source struct {
	name, path string
	f          File
	r          *lineReader
	stop       int64  // read no further than this, if >= 0
	line       uint64 // of cur
	at         int64  // where cur begins
	cur        []byte
	time       string
}

// advance reads the next line into cur.
func (s *source) advance() error {
	for {
		line, at, err := s.r.next()
		if errors.Is(err, io.EOF) || (s.stop >= 0 && at >= s.stop) {
			return io.EOF
		}
		s.line++
		s.at = at
		if err != nil {
			return &LineError{s.path, s.line, err}
		}
		if len(line) == 1 {
			continue
		}
		s.cur = line
		s.time = lineTime(line, s.time)
		return nil
	}
}

// lineTime is the time that a line states, at its fixed place; a line that has
// none is sorted behind the one before it.
func lineTime(line []byte, before string) string {
	i := len(lineStart)
	for i < len(line) && line[i] != ',' {
		i++
	}
	i += len(`,"ts":"`)
	if i+len(timeForm) > len(line) || line[i+len(timeForm)-1] != 'Z' {
		return before
	}
	return max(before, string(line[i:i+len(timeForm)]))
}

// merge reads segments side by side, by time.
type merge struct {
	fs      FS
	dir     string
	waiting []string // segments that are not open yet, oldest first
	open    []*source
	stops   map[string]*position // read no further than this
	last    *source
}

func newMerge(dir string, f *Filter) (*merge, error) {
	m := &merge{fs: orOS(f.FS), dir: dir}
	var err error
	m.waiting, err = segmentNames(m.fs, dir)
	return m, err
}

func (m *merge) close() {
	for _, s := range m.open {
		s.f.Close()
	}
}

// next returns the line with the smallest time. It stays valid until the next
// call.
func (m *merge) next() (*source, []byte, error) {
	if m.last != nil {
		s := m.last
		m.last = nil
		if err := m.step(s); err != nil {
			return nil, nil, err
		}
	}
	if err := m.admit(); err != nil {
		return nil, nil, err
	}
	var best *source
	for _, s := range m.open {
		if best == nil || s.time < best.time {
			best = s
		}
	}
	if best == nil {
		return nil, nil, io.EOF
	}
	m.last = best
	return best, best.cur, nil
}

// step moves a source on; one that ended is closed. A line that cannot be read
// at all ends its source, after it was reported.
func (m *merge) step(s *source) error {
	err := s.advance()
	if err == nil {
		return nil
	}
	for i := range m.open {
		if m.open[i] == s {
			m.open = append(m.open[:i], m.open[i+1:]...)
			break
		}
	}
	s.f.Close()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// admit opens the waiting segments that could hold the next line: a segment's
// name begins with the time of its first line.
func (m *merge) admit() error {
	for len(m.waiting) > 0 && len(m.open) < maxSources {
		name := m.waiting[0]
		if len(m.open) > 0 {
			oldest := m.open[0].time
			for _, s := range m.open {
				oldest = min(oldest, s.time)
			}
			if nameTime(name) > oldest {
				return nil
			}
		}
		m.waiting = m.waiting[1:]
		path := filepath.Join(m.dir, name)
		f, err := m.fs.OpenRead(path)
		if err != nil {
			return &LineError{path, 0, err}
		}
		s := &source{name: name, path: path, f: f, r: newLineReader(f, 0, 64<<10, maxLine), stop: -1}
		if m.stops != nil {
			s.stop = 0
			if p := m.stops[name]; p != nil {
				s.stop = p.at
			}
		}
		m.open = append(m.open, s)
		if err := m.step(s); err != nil {
			return err
		}
	}
	return nil
}

// nameTime turns the time in a segment's name into the form of a line's time.
func nameTime(name string) string {
	const form = "20060102T150405.000000000Z"
	if len(name) < len(form) {
		return ""
	}
	n := name[:len(form)]
	return fmt.Sprintf("%s-%s-%sT%s:%s:%s", n[0:4], n[4:6], n[6:8], n[9:11], n[11:13], n[13:])
}

// showUpTo is Show, no further than the given positions.
func showUpTo(ctx context.Context, dir string, f Filter, stops map[string]*position) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if f.Limit != nil {
			showLast(ctx, dir, f, *f.Limit, stops, yield)
			return
		}
		m, err := newMerge(dir, &f)
		if err != nil {
			yield(nil, err)
			return
		}
		m.stops = stops
		defer m.close()
		showMerged(ctx, m, &f, yield)
	}
}

// showMerged yields what a merge gives until it ends.
func showMerged(ctx context.Context, m *merge, f *Filter, yield func(*Event, error) bool) {
	for ctx.Err() == nil {
		src, line, err := m.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			if !yield(nil, err) {
				return
			}
			continue
		}
		if !emit(f, src.path, src.line, line, yield) {
			return
		}
	}
	yield(nil, ctx.Err())
}
