package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// chunkBytes is how much of a segment one goroutine verifies at a time. Because
// every line carries the hash of the one before, chunks can be verified apart
// and only their seams compared.
const chunkBytes = 16 << 20

// segmentResult is what the scan of a segment found.
type segmentResult struct {
	lines   uint64
	head    []byte
	at      map[uint64]string // the hashes of the lines that something is known of
	bad     bool
	badLine uint64
	torn    bool
	why     string
}

// special is a line that verification has to understand.
type special struct {
	segment string
	line    []byte
}

// chunk is one piece of a segment and what was found in it.
type chunk struct {
	seg        *verified
	from, stop int64

	lines              uint64
	firstSeq, lastSeq  uint64
	firstPrev, lastSum [hexLen]byte
	at                 map[uint64]string
	special            []special
	bad, torn          bool
	why                string
	err                error
}

// scan verifies the chains of all segments, in parallel.
func (v *verifier) scan(ctx context.Context) error {
	workers := v.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var total, done int64
	var chunks []*chunk
	for _, s := range v.segments {
		if s.err != nil {
			continue
		}
		total += s.size
		for at := int64(0); at == 0 || at < s.size; at += v.opt.chunk {
			chunks = append(chunks, &chunk{seg: s, from: at, stop: min(at+v.opt.chunk, s.size)})
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := make(chan *chunk)
	for range workers {
		wg.Go(func() {
			for c := range work {
				if ctx.Err() != nil {
					continue
				}
				v.scanChunk(c)
				if v.opt.Progress != nil {
					mu.Lock()
					done += c.stop - c.from
					v.opt.Progress(done, total)
					mu.Unlock()
				}
			}
		})
	}
	for _, c := range chunks {
		work <- c
	}
	close(work)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for len(chunks) > 0 {
		n := 1
		for n < len(chunks) && chunks[n].seg == chunks[0].seg {
			n++
		}
		v.stitch(chunks[0].seg, chunks[:n])
		chunks = chunks[n:]
	}
	return nil
}

// scanChunk verifies the lines that begin in a chunk.
func (v *verifier) scanChunk(c *chunk) {
	f, err := v.fs.OpenRead(c.seg.path)
	if err != nil {
		c.err = err
		return
	}
	defer f.Close()
	from := c.from
	if from > 0 {
		from-- // so that a line that begins exactly here is seen to do so
	}
	// A log that is being written may grow; what is there now is verified.
	r := newLineReader(io.NewSectionReader(f, 0, c.seg.size), from, c.seg.size+1, maxLine)
	r.stop = c.stop
	if c.from > 0 {
		if _, _, err := r.next(); errors.Is(err, io.EOF) {
			return
		} else if errors.Is(err, errLongLine) {
			return // the chunk before reports it
		} else if err != nil {
			c.err = err
			return
		}
	}
	wanted := make(map[uint64]bool, len(c.seg.known))
	for _, k := range c.seg.known {
		wanted[k.Count] = true
	}
	c.at = make(map[uint64]string, len(wanted))
	for {
		line, at, err := r.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil && !errors.Is(err, errLongLine) {
			c.err = err
			return
		}
		why := ""
		if err != nil {
			why = err.Error()
		} else {
			why = c.check(line)
		}
		if why == "" && v.opt.Strict {
			if why = strictLine(line); why != "" {
				c.lines--
			}
		}
		if why != "" {
			c.fail(f, at, why)
			return
		}
		seq := c.lastSeq
		if len(wanted) > 0 && wanted[seq] {
			c.at[seq] = string(c.lastSum[:])
		}
		if isSpecial(line) {
			c.special = append(c.special, special{c.seg.name, bytes.Clone(line)})
		}
	}
}

// check verifies one line behind the ones before it in the chunk.
func (c *chunk) check(line []byte) string {
	if !framed(line) {
		return "this is no line of an audit log"
	}
	if !hashMatches(line) {
		return "the hash does not match the line"
	}
	prev, seq := linePrev(line), lineSeq(line)
	switch {
	case prev == nil || seq == 0:
		return "this is no line of an audit log"
	case c.lines == 0:
		c.firstSeq = seq
		copy(c.firstPrev[:], prev)
	case seq != c.lastSeq+1:
		return seqTrouble(c.lastSeq+1, seq)
	case !bytes.Equal(prev, c.lastSum[:]):
		return "the line does not continue the one before it"
	}
	c.lines++
	c.lastSeq = seq
	copy(c.lastSum[:], lineHash(line))
	return ""
}

func seqTrouble(want, have uint64) string {
	return fmt.Sprintf("line %d stands where line %d belongs: lines were removed, inserted or moved", have, want)
}

// fail notes the first bad line of a chunk and whether a crash could have left
// it and what follows.
func (c *chunk) fail(f File, at int64, why string) {
	c.bad, c.why = true, why
	rest := make([]byte, min(maxLine+1, max(c.seg.size-at, 0)))
	n, err := f.ReadAt(rest, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	if rest = rest[:n]; tornLooking(rest) {
		if n < maxLine && inFlight(f, at, rest) {
			c.bad, c.why = false, "" // it ends before the line that is being written
			return
		}
		c.torn = true
		c.why = "the line is torn: its writer or the machine crashed"
		if bytes.Contains(rest, zeroRun[:]) {
			c.why = "blocks of the file are zero or garbage: the machine crashed, or somebody blanked lines"
		}
	}
}

// inFlight reports whether an unfinished line is just being written: looked at
// again, there is more of it.
func inFlight(f File, at int64, seen []byte) bool {
	if bytes.IndexByte(seen, '\n') >= 0 {
		return false
	}
	for range 5 {
		info, err := f.Stat()
		if err != nil {
			return false
		}
		if info.Size > at+int64(len(seen)) {
			return true
		}
		if info.Mode&0o200 == 0 {
			return false // finished: nobody writes to it
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// stitch joins the chunks of a segment.
func (v *verifier) stitch(s *verified, chunks []*chunk) {
	r := &s.res
	r.at = make(map[uint64]string)
	head := genesis
	for _, c := range chunks {
		if c.err != nil {
			s.err = c.err
			return
		}
		if c.lines > 0 {
			switch {
			case c.firstSeq != r.lines+1:
				r.fail(r.lines+1, seqTrouble(r.lines+1, c.firstSeq))
				return
			case c.firstPrev != head:
				r.fail(r.lines+1, "the line does not continue the one before it")
				return
			}
			r.lines += c.lines
			head = c.lastSum
			for seq, h := range c.at {
				r.at[seq] = h
			}
			v.specials = append(v.specials, c.special...)
		}
		if c.bad {
			r.fail(r.lines+1, c.why)
			r.torn = c.torn
			break
		}
	}
	if r.lines > 0 {
		r.head = head[:]
	} else if !r.bad {
		r.fail(1, "the segment is empty: its writer crashed before the header")
		r.torn = true
	}
}

func (r *segmentResult) fail(line uint64, why string) {
	r.bad, r.badLine, r.why = true, line, why
}

// isSpecial reports whether a line is a conflict or an ack, by the fixed place
// of its type.
func isSpecial(line []byte) bool {
	i := len(lineStart)
	for i < len(line) && line[i] != ',' {
		i++
	}
	i += len(`,"ts":"`) + len(timeForm) + len(`","seg":"0123456789abcdef"`)
	if i >= len(line) {
		return false
	}
	rest := line[i:]
	return bytes.HasPrefix(rest, []byte(`,"type":"ack"`)) || bytes.HasPrefix(rest, []byte(`,"type":"conflict"`))
}
