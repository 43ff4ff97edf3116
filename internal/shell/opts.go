package shell

import "strings"

// optKind is what the next word of a command turned out to be.
type optKind uint8

const (
	optEnd optKind = iota
	optOption
	optOperand
)

// grammarOf options: which take an argument.
type optSpec struct {
	// arg are the short options that take an argument, maybe the letters whose
	// argument must be attached to them.
	arg, maybe string
	// long are the long options that take an argument, parted by blanks. A
	// unique prefix counts, as getopt_long has it.
	long string
	// single: long options have one dash (find, java, terraform).
	single bool
	// stop: options end at the first operand.
	stop bool
}

// opts reads the words of a command as getopt does: clusters, `--`,
// permutation, unique prefixes of long options.
type opts struct {
	optSpec
	words []word
	i, j  int
	rest  bool
	// at is the index of the word that was read last.
	at int
	// value is the argument of the option or the operand itself.
	value word
	has   bool
}

// next reads one option or operand. An option's name is spelled with its
// dashes; a long one is completed.
func (o *opts) next() (name string, kind optKind) {
	o.has = false
	if o.j > 0 {
		return o.cluster(), optOption
	}
	if o.i >= len(o.words) {
		return "", optEnd
	}
	w := &o.words[o.i]
	o.at = o.i
	o.i++
	s := w.val
	if o.rest || len(s) < 2 || s[0] != '-' {
		o.value, o.has = *w, true
		o.rest = o.rest || o.stop
		return "", optOperand
	}
	if s == "--" && w.is(wStatic) {
		o.rest = true
		return "--", optOption
	}
	if s[1] != '-' && !o.single {
		if !w.is(wStatic) { // -j$(nproc)
			o.value, o.has = *w, true
			if strings.IndexByte(o.arg, s[1]) >= 0 {
				o.value.node = trimNode(w.node, s[:2])
			}
			return shortName(s[1]), optOption
		}
		o.j = 1
		return o.cluster(), optOption
	}
	name, value, has := strings.Cut(s, "=")
	if has || !w.is(wStatic) {
		o.value, o.has = *w, has
		o.value.val, o.value.node = value, nil
		o.value.wflag &^= wBare
		if i := strings.IndexByte(w.src, '='); i >= 0 && !w.is(wStatic) {
			o.value.src = w.src[i+1:]
			o.value.node = trimNode(w.node, name+"=")
		} else {
			o.value.src = value
		}
	}
	if s[1] != '-' {
		if !has && inList(o.long, name[1:]) {
			o.take()
		}
		return name, optOption
	}
	if full, takes := completeLong(o.long, name[2:]); takes {
		name = "--" + full
		if !has {
			o.take()
		}
	}
	return name, optOption
}

func (o *opts) cluster() string {
	w := &o.words[o.at]
	c := w.val[o.j]
	o.j++
	switch {
	case strings.IndexByte(o.arg, c) >= 0:
		if o.j < len(w.val) {
			o.value, o.has = text(w.val[o.j:]), true
		} else {
			o.take()
		}
		o.j = 0
	case strings.IndexByte(o.maybe, c) >= 0:
		o.value, o.has = text(w.val[o.j:]), o.j < len(w.val)
		o.j = 0
	}
	if o.j >= len(w.val) {
		o.j = 0
	}
	return shortName(c)
}

// hazy reports that the option that was read last holds an expansion which may
// make another option of it.
func (o *opts) hazy() bool {
	w := &o.words[o.at]
	switch {
	case w.is(wStatic):
		return false
	case w.is(wSplit):
		return true
	case strings.HasPrefix(w.val, "--"):
		return strings.IndexByte(w.val, '=') < 0
	}
	return len(w.val) < 2 || strings.IndexByte(o.arg, w.val[1]) < 0 && strings.IndexByte(o.maybe, w.val[1]) < 0
}

// take reads the next word as an option's argument.
func (o *opts) take() {
	if o.i < len(o.words) {
		o.value, o.has = o.words[o.i], true
		o.i++
	}
}

const dashes = "-\x00-\x01-\x02-\x03-\x04-\x05-\x06-\x07-\x08-\t-\n-\x0b-\x0c-\r-\x0e-\x0f-\x10-\x11-\x12-\x13-\x14-\x15-\x16-\x17-\x18-\x19-\x1a-\x1b-\x1c-\x1d-\x1e-\x1f- -!-\"-#-$-%-&-'-(-)-*-+-,---.-/-0-1-2-3-4-5-6-7-8-9-:-;-<-=->-?-@-A-B-C-D-E-F-G-H-I-J-K-L-M-N-O-P-Q-R-S-T-U-V-W-X-Y-Z-[-\\-]-^-_-`-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z-{-|-}-~-\x7f"

// shortName spells a short option without making a new string.
func shortName(c byte) string {
	if c < 0x80 {
		return dashes[2*int(c) : 2*int(c)+2]
	}
	return "-?"
}

// inList reports whether a word stands in a list parted by blanks.
func inList(list, s string) bool {
	if s == "" {
		return false
	}
	for len(list) > 0 {
		head, tail, _ := strings.Cut(list, " ")
		if head == s {
			return true
		}
		list = tail
	}
	return false
}

// completeLong finds the long option that s is, or the only one it abbreviates.
func completeLong(list, s string) (full string, ok bool) {
	if s == "" || list == "" {
		return "", false
	}
	n := 0
	for len(list) > 0 {
		head, tail, _ := strings.Cut(list, " ")
		if head == s {
			return head, true
		}
		if len(s) < len(head) && head[:len(s)] == s {
			full = head
			n++
		}
		list = tail
	}
	return full, n >= 1
}
