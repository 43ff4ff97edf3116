package audit

import (
	"bytes"
	"errors"
	"io"
)

// errLongLine says that a line is longer than any line of a log.
var errLongLine = errors.New("a line is longer than any line of an audit log")

// lineReader reads lines of a file in bounded memory.
type lineReader struct {
	f    io.ReaderAt
	at   int64 // offset of buf[0]
	buf  []byte
	pos  int
	end  int
	max  int
	eof  bool
	stop int64 // do not begin a line at or behind this offset, 0 for none
}

// newLineReader reads from offset at on. size is how much there may be to read:
// the buffer begins no larger than that.
func newLineReader(f io.ReaderAt, at, size int64, maxLen int) *lineReader {
	return &lineReader{f: f, at: at, buf: make([]byte, min(max(size, 512), 256<<10)), max: maxLen}
}

// offset is where the next line begins.
func (r *lineReader) offset() int64 { return r.at + int64(r.pos) }

// next returns the next line with its newline, and its offset. At the end of
// the file the last line may lack one. A line that is too long is errLongLine
// with its first bytes. The line is valid until the next call.
func (r *lineReader) next() ([]byte, int64, error) {
	scanned := 0
	for {
		if r.stop > 0 && r.offset() >= r.stop {
			return nil, r.offset(), io.EOF
		}
		if i := bytes.IndexByte(r.buf[r.pos+scanned:r.end], '\n'); i >= 0 {
			at := r.offset()
			line := r.buf[r.pos : r.pos+scanned+i+1]
			r.pos += len(line)
			if len(line) > r.max {
				return line, at, errLongLine
			}
			return line, at, nil
		}
		scanned = r.end - r.pos
		if scanned > r.max {
			return r.buf[r.pos:r.end], r.offset(), errLongLine
		}
		if r.eof {
			at := r.offset()
			line := r.buf[r.pos:r.end]
			r.pos = r.end
			if len(line) == 0 {
				return nil, at, io.EOF
			}
			return line, at, nil
		}
		if err := r.fill(); err != nil {
			return nil, r.offset(), err
		}
	}
}

// fill reads more behind what is left.
func (r *lineReader) fill() error {
	if r.pos > 0 {
		copy(r.buf, r.buf[r.pos:r.end])
		r.at += int64(r.pos)
		r.end -= r.pos
		r.pos = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.f.ReadAt(r.buf[r.end:], r.at+int64(r.end))
	r.end += n
	if errors.Is(err, io.EOF) {
		r.eof = true
		return nil
	}
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}
