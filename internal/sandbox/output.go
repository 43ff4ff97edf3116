package sandbox

import (
	"fmt"
	"io"
)

// Output is one captured stream: its start and its end, with the middle cut when
// it is longer than the cap.
type Output struct {
	// Text is what is kept, with one line in the place of the cut.
	Text string `json:"text"`
	// Total is the number of bytes that the command wrote, Cut how many are left out.
	Total int64 `json:"total"`
	Cut   int64 `json:"cut"`
}

// Truncated reports whether anything was cut.
func (o Output) Truncated() bool { return o.Cut > 0 }

// capture keeps the first and the last half of a stream in bounded memory.
type capture struct {
	limit int // 0: everything
	head  []byte
	tail  []byte // a ring once it is full
	at    int
	total int64
	tee   io.Writer
}

func (c *capture) Write(b []byte) (int, error) {
	n := len(b)
	c.total += int64(n)
	if c.tee != nil {
		_, _ = c.tee.Write(b) // a reader that went away does not stop the command
	}
	if c.limit <= 0 {
		if c.tee == nil {
			c.head = append(c.head, b...)
		}
		return n, nil
	}
	if room := (c.limit+1)/2 - len(c.head); room > 0 {
		k := min(room, len(b))
		c.head = append(c.head, b[:k]...)
		b = b[k:]
	}
	size := c.limit / 2
	if size == 0 || len(b) == 0 {
		return n, nil
	}
	if len(b) >= size {
		c.tail, c.at = append(c.tail[:0], b[len(b)-size:]...), 0
		return n, nil
	}
	if room := size - len(c.tail); room > 0 {
		k := min(room, len(b))
		c.tail = append(c.tail, b[:k]...)
		b = b[k:]
	}
	for len(b) > 0 {
		k := copy(c.tail[c.at:], b)
		b = b[k:]
		c.at = (c.at + k) % size
	}
	return n, nil
}

func (c *capture) output() Output {
	o := Output{Total: c.total}
	end := append(append([]byte(nil), c.tail[c.at:]...), c.tail[:c.at]...)
	kept := int64(len(c.head) + len(end))
	if c.limit <= 0 && c.tee != nil {
		return o
	}
	if o.Cut = c.total - kept; o.Cut > 0 {
		o.Text = string(c.head) + fmt.Sprintf("\n[… %d bytes cut …]\n", o.Cut) + string(end)
	} else {
		o.Text = string(c.head) + string(end)
	}
	return o
}
