package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// tail is the end of a segment.
type tail struct {
	id    string
	count uint64       // seq of the last good line
	head  [hexLen]byte // its hash
	end   int64        // where it ends
	torn  int64        // bytes behind it that a crash can leave
	bytes []byte       // those bytes, or their end if they are many
	bad   bool         // what follows the last good line is no torn line
}

func (t *tail) tornSum() string {
	sum := sha256.Sum256(t.bytes)
	return hex.EncodeToString(sum[:])
}

// tailWindow is how much of a segment's end is read to find its last good line.
const tailWindow = maxLine + 64<<10

// readTail finds the last good line of a segment of the given size.
func readTail(f File, size int64) (*tail, error) {
	t := &tail{}
	if size == 0 {
		return t, nil
	}
	// A small window does for nearly every segment.
	for _, window := range []int64{4 << 10, tailWindow} {
		start := max(0, size-window)
		buf := make([]byte, size-start)
		if n, err := f.ReadAt(buf, start); err != nil && !(errors.Is(err, io.EOF) && n == len(buf)) {
			return nil, err
		}
		if t.find(buf, start) || start == 0 {
			break
		}
	}
	t.bad = t.torn > 0 && !tornLooking(t.bytes)
	return t, nil
}

// find looks for the last good line in buf, which is the end of the file from
// start on.
func (t *tail) find(buf []byte, start int64) bool {
	end := bytes.LastIndexByte(buf, '\n') + 1
	for end > 0 {
		from := bytes.LastIndexByte(buf[:end-1], '\n') + 1
		if from == 0 && start > 0 {
			break // perhaps only a part of a line
		}
		if seq, id, ok := checkLine(buf[from:end]); ok {
			copy(t.head[:], lineHash(buf[from:end]))
			t.id, t.count, t.end = id, seq, start+int64(end)
			t.torn, t.bytes = int64(len(buf)-end), buf[end:]
			return true
		}
		end = from
	}
	*t = tail{torn: start + int64(len(buf)), bytes: buf}
	return false
}

// framed reports whether a line (with its newline) has the frame of one.
func framed(line []byte) bool {
	n := len(line)
	return n > len(lineStart)+suffixLen+1 && string(line[:len(lineStart)]) == lineStart &&
		line[n-1] == '\n' && line[n-2] == '}' && line[n-3] == '"' &&
		string(line[n-1-suffixLen:n-1-suffixLen+len(hashMember)]) == hashMember
}

// lineHash is the hash that a framed line states, linePrev the one of the line
// before.
func lineHash(line []byte) []byte {
	end := len(line) - 3
	return line[end-hexLen : end]
}

func linePrev(line []byte) []byte {
	end := len(line) - 1 - suffixLen - 1
	if end < hexLen+9 || line[end] != '"' || string(line[end-hexLen-9:end-hexLen]) != `,"prev":"` {
		return nil
	}
	return line[end-hexLen : end]
}

// lineSeq is the sequence number that a framed line states, 0 if it is none.
func lineSeq(line []byte) uint64 {
	var n uint64
	digits := line[len(lineStart):min(len(line), len(lineStart)+20)]
	for i, c := range digits {
		if c < '0' || c > '9' {
			if i == 0 || c != ',' || digits[0] == '0' {
				return 0
			}
			return n
		}
		n = n*10 + uint64(c-'0')
	}
	return 0
}

// hashMatches reports whether a framed line's hash is that of its bytes.
func hashMatches(line []byte) bool {
	sum := sha256.Sum256(line[:len(line)-1-suffixLen])
	stated := lineHash(line)
	for i, b := range sum {
		if stated[2*i] != hexDigits[b>>4] || stated[2*i+1] != hexDigits[b&15] {
			return false
		}
	}
	return true
}

// checkLine checks a line by itself and returns its number and segment id.
func checkLine(line []byte) (seq uint64, id string, ok bool) {
	if !framed(line) || linePrev(line) == nil || !hashMatches(line) {
		return 0, "", false
	}
	if seq = lineSeq(line); seq == 0 {
		return 0, "", false
	}
	return seq, lineSegment(line), true
}

// lineSegment is the segment id that a line states.
func lineSegment(line []byte) string {
	const mark = `Z","seg":"`
	i := bytes.Index(line[:min(len(line), 96)], []byte(mark))
	if i < 0 {
		return ""
	}
	rest := line[i+len(mark):]
	if j := bytes.IndexByte(rest[:min(len(rest), 64)], '"'); j > 0 {
		return string(rest[:j])
	}
	return ""
}

// tornLooking reports whether the bytes behind the last good line are what a
// crash leaves: the beginning of a line without its newline, or, after a power
// loss, blocks of zeros or of garbage with no good line behind them. A changed
// line is none of that.
func tornLooking(p []byte) bool {
	if len(p) <= maxLine && bytes.IndexByte(p, '\n') < 0 {
		return true
	}
	if bytes.Contains(p, zeroRun[:]) {
		return true
	}
	if !garbage(p) {
		return false
	}
	for line := range bytes.Lines(p) {
		if _, _, ok := checkLine(line); ok {
			return false
		}
	}
	return true
}

// garbage reports whether p holds bytes that no line can hold. One may be a
// flipped bit; foreign blocks are full of them.
func garbage(p []byte) bool {
	odd := 0
	for len(p) > 0 && odd < 2 {
		r, size := utf8.DecodeRune(p)
		if (r == utf8.RuneError && size == 1) || (r < 0x20 && r != '\n') || r == 0x7f {
			odd++
		}
		p = p[size:]
	}
	return odd >= 2
}

var zeroRun [16]byte

// parsePlace parses "seq" style numbers of text formats.
func parsePlace(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return n, err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}
