package rules

import "slices"

// trie is a radix tree from literal text to entry numbers. With back set it
// reads keys and texts from their end. It is built once and then only read.
type trie struct {
	root node
	back bool
}

type node struct {
	// label is the text on the edge into the node, in reading order.
	label string
	// first are the first bytes of the children's labels, sorted.
	first []byte
	kids  []*node
	items []int32
}

// add puts an item at key.
func (t *trie) add(key string, item int32) {
	if t.back {
		key = reverse(key)
	}
	n := &t.root
	for key != "" {
		i, found := slices.BinarySearch(n.first, key[0])
		if !found {
			n.first = slices.Insert(n.first, i, key[0])
			n.kids = slices.Insert(n.kids, i, &node{label: key, items: []int32{item}})
			return
		}
		kid := n.kids[i]
		same := len(commonPrefix(kid.label, key))
		if same < len(kid.label) {
			split := &node{label: kid.label[:same], first: []byte{kid.label[same]}, kids: []*node{kid}}
			kid.label = kid.label[same:]
			n.kids[i] = split
			kid = split
		}
		n, key = kid, key[same:]
	}
	n.items = append(n.items, item)
}

// walk is a position on the way from the root along one text.
type walk struct {
	n    *node
	s    string
	at   int
	back bool
}

// start begins a walk along s.
func (t *trie) start(s string) walk { return walk{n: &t.root, s: s, back: t.back} }

// next returns the items of the next node on the way, and false at the end.
func (w *walk) next() ([]int32, bool) {
	for w.n != nil {
		items := w.n.items
		w.step()
		if len(items) > 0 {
			return items, true
		}
	}
	return nil, false
}

// step moves to the child that the text leads to, or to nil.
func (w *walk) step() {
	n := w.n
	w.n = nil
	rest := len(w.s) - w.at
	if rest == 0 || len(n.first) == 0 {
		return
	}
	kid := n.child(w.byte(0))
	if kid == nil || len(kid.label) > rest {
		return
	}
	for i := 1; i < len(kid.label); i++ {
		if kid.label[i] != w.byte(i) {
			return
		}
	}
	w.at += len(kid.label)
	w.n = kid
}

// byte returns the byte i places ahead in reading order.
func (w *walk) byte(i int) byte {
	if w.back {
		return w.s[len(w.s)-1-w.at-i]
	}
	return w.s[w.at+i]
}

// child finds the child whose label starts with c.
func (n *node) child(c byte) *node {
	lo, hi := 0, len(n.first)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.first[mid] < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(n.first) && n.first[lo] == c {
		return n.kids[lo]
	}
	return nil
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// index finds the entries whose pattern could match a text: by the literal
// text that every match starts or ends with, whichever fewer patterns share, by a
// piece that every match holds, and a list of the few that have none of these.
type index struct {
	starts, ends trie
	inside       grams
	general      []int32
}

// pending is an entry that waits for its place in an index.
type pending struct {
	prefix, suffix, inside string
	item                   int32
}

// newIndex builds the index of the entries.
func newIndex(entries []pending) *index {
	if len(entries) == 0 {
		return nil
	}
	x := &index{ends: trie{back: true}}
	starts, ends := map[string]int{}, map[string]int{}
	for _, e := range entries {
		starts[e.prefix]++
		ends[e.suffix]++
	}
	var within []pending
	for _, e := range entries {
		switch {
		case e.prefix == "" && e.suffix == "" && len(e.inside) >= gramSize:
			within = append(within, e)
		case e.prefix == "" && e.suffix == "":
			x.general = append(x.general, e.item)
		case e.suffix == "" || e.prefix != "" && starts[e.prefix] <= ends[e.suffix]:
			x.starts.add(e.prefix, e.item)
		default:
			x.ends.add(e.suffix, e.item)
		}
	}
	x.inside = newGrams(within)
	return x
}

// lookup walks the candidates of one text.
type lookup struct {
	x     *index
	w     walk
	at    int
	stage int
}

// find begins a lookup. It works on a nil index.
func (x *index) find(s string) lookup {
	l := lookup{x: x}
	if x != nil {
		l.w = x.starts.start(s)
	}
	return l
}

// next returns the next candidates, and false at the end.
func (l *lookup) next() ([]int32, bool) {
	if l.x == nil {
		return nil, false
	}
	for {
		switch l.stage {
		case 0, 1:
			if items, ok := l.w.next(); ok {
				return items, true
			}
			if l.stage == 0 {
				l.w = l.x.ends.start(l.w.s)
			}
			l.stage++
		case 2:
			l.stage++
			if len(l.x.general) > 0 {
				return l.x.general, true
			}
		case 3:
			if items, ok := l.x.inside.next(l.w.s, &l.at); ok {
				return items, true
			}
			l.stage++
		default:
			return nil, false
		}
	}
}
