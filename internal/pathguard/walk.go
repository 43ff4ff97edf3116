package pathguard

import (
	"bytes"
	"sync"
	"syscall"
)

// walked is the result of a walk.
type walked struct {
	// real is the path without links. After an error it is the place of the error.
	real string
	// place is where the entry itself lies if the last component is a link: its
	// folders' links followed, the last link not. Empty if it is no link.
	place string
	// links counts the links that were followed, missing the components at the
	// end of real that do not exist.
	links, missing int
	// magic says that a link of a proc file system was followed. The text of such
	// a link is no path that holds for another process, so real proves nothing.
	magic bool
}

// walker holds the buffers of one walk. Walks are frequent, buffers are big:
// they are pooled.
type walker struct {
	out  []byte // real path so far, no slash at the end; "" is "/"
	todo []byte // components still to walk
	next []byte // spare for todo
	link []byte // text of a link
}

var walkers = sync.Pool{New: func() any {
	return &walker{
		out:  make([]byte, 0, 512),
		todo: make([]byte, 0, 512),
		next: make([]byte, 0, 512),
		link: make([]byte, 4096),
	}
}}

// maxKept bounds the buffers that go back to the pool.
const maxKept = 64 << 10

// entry is what a look-up found.
type entry uint8

const (
	plain   entry = iota // exists and is no link
	link                 // a link
	missing              // nothing there, or a file where a folder should be
)

// walkFrom walks rest from the link-free absolute path base ("" for the top),
// as the kernel does. A base must be real already. hint is the expected result:
// where the walk ends there, it is returned instead of a new string.
func walkFrom(base, rest, hint string) (walked, error) {
	w := walkers.Get().(*walker)
	w.out = w.out[:0]
	if onWindows && base != "" {
		w.out = append(w.out, '/') // "C:" is walked as the first component
	}
	if base != "/" {
		w.out = append(w.out, base...)
	}
	w.todo = append(w.todo[:0], rest...)
	res, err := w.walk()
	if res.real = hint; onWindows || string(w.out) != hint {
		res.real = w.text()
	}
	if cap(w.out)+cap(w.todo)+cap(w.next) <= maxKept {
		walkers.Put(w)
	}
	return res, err
}

// walk is the loop: take a component, go there, follow it if it is a link.
func (w *walker) walk() (walked, error) {
	var res walked
	todo := w.todo
	for {
		for len(todo) > 0 && todo[0] == '/' {
			todo = todo[1:]
		}
		if len(todo) == 0 {
			return res, nil
		}
		end := bytes.IndexByte(todo, '/')
		if end < 0 {
			end = len(todo)
		}
		name := todo[:end]
		todo = todo[end:]
		switch {
		case string(name) == ".":
			continue
		case string(name) == "..":
			// w.out has no links, so its parent is the text before the last slash.
			// Behind a missing component the kernel would stop; a tool that cleans
			// the path goes on, and so do we, looking again once we are back in
			// folders that exist.
			w.pop()
			if res.missing > 0 {
				res.missing--
			}
			continue
		}
		start := len(w.out)
		w.out = append(append(w.out, '/'), name...)
		if res.missing > 0 {
			res.missing++
			continue
		}
		kind, target, err := w.look()
		switch {
		case err != nil:
			return res, err
		case kind == missing:
			res.missing = 1
			continue
		case kind == plain:
			continue
		}
		if res.links++; res.links > maxLinks {
			return res, syscall.ELOOP
		}
		if len(target) == 0 {
			return res, ErrEmptyLink
		}
		if res.place == "" && len(bytes.TrimLeft(todo, "/")) == 0 {
			res.place = w.text()
		}
		if w.isMagic(start) {
			res.magic = true
			if target[0] != '/' && bytes.IndexByte(target, ':') >= 0 {
				continue // "pipe:[4711]" names no path: the entry is the end
			}
		}
		if len(target)+len(todo) > maxText {
			return res, syscall.ENAMETOOLONG
		}
		if target[0] == '/' {
			start = 0
		}
		w.out = w.out[:start]
		w.next = append(append(append(w.next[:0], target...), '/'), todo...)
		w.todo, w.next = w.next, w.todo
		todo = w.todo
	}
}

// pop drops the last component. The top (or the drive) is its own parent.
func (w *walker) pop() {
	if i := bytes.LastIndexByte(w.out, '/'); i > 0 || i == 0 && !onWindows {
		w.out = w.out[:i]
	}
}

// text is the place of the walk as a path.
func (w *walker) text() string {
	switch {
	case len(w.out) == 0:
		return "/"
	case onWindows && len(w.out) == 3:
		return string(w.out[1:]) + "/"
	case onWindows:
		return string(w.out[1:])
	}
	return string(w.out)
}
