package shell

import (
	"slices"
	"strings"
	"sync"

	"github.com/lictor-policy/lictor/internal/model"
)

// Analyze reads a shell command and says which simple commands it can run.
//
// text is the command as the call gave it; sh is the shell that will run it.
// With ShellBash the bash grammar is used. With ShellUnknown and ShellZsh the
// bash and the zsh grammar must find the same parts, with ShellPOSIX the POSIX
// and the bash grammar (sh is dash on one machine and bash on the next); where
// they differ, the command is opaque with the reason "dialect".
//
// It returns a command whose Source is text, always: errors are reasons. It
// never panics, its time is bounded (see the limits in limits.go), and it looks
// at nothing but its arguments. The contract is SPEC section 2, "Command".
func Analyze(text string, sh model.Shell) (c *model.Command) {
	c = &model.Command{
		Source: text, Grade: model.GradeStatic,
		Parts: []model.Part{}, Writes: []string{}, Reads: []string{}, Hosts: []string{},
	}
	a := analyses.Get().(*analysis)
	a.reset(c)
	defer func() {
		if recover() != nil {
			a.c = nil // not to be used again
			c.Opaque, c.Grade, c.Reasons = true, model.GradeUnparseable, append(c.Reasons, reasonTable[rInternal].code)
			c.Naive = naive(text)
			return
		}
		a.c = nil
		analyses.Put(a)
	}()
	var other grammar
	switch sh {
	case model.ShellBash:
		c.Dialect = "bash"
		a.read(text, gBash, false)
	case model.ShellPOSIX:
		c.Dialect = "sh"
		a.read(text, gPOSIX, false)
		other = gBash
	case model.ShellZsh:
		c.Dialect = "zsh"
		a.read(text, gBash, true)
		other = gZsh
	default:
		c.Dialect = "bash+zsh"
		a.read(text, gBash, true)
		other = gZsh
	}
	if sh != model.ShellBash && !a.unreadable {
		a.agree(text, other)
	}
	return c
}

var analyses = sync.Pool{New: func() any { return new(analysis) }}

// analysis is the work on one text.
type analysis struct {
	c     *model.Command
	parts []part
	seen  [reasonCount]bool
	// unreadable: a reason that makes the text unparseable.
	unreadable bool
	// stop: a limit was hit, walk no further.
	stop  bool
	stmts int
	steps int
	buf   []byte
	// scratch holds the words of commands; commands use it as a stack.
	scratch []word
	redirs  []redirectAt
	files   []model.FileUse
	// dir is the folder that `cd` in the text leads to.
	dir      string
	dirKnown bool
	// seq are the pieces of the line being read, stages where the stages of the
	// pipelines being read start in it.
	seq       []piece
	stages    []int
	lineBytes int
	vars      map[string][]string
	// all are the values of the variables that had several, or that are known in
	// part; tries is how many were tried.
	all   map[string][]string
	tries int
	// script: the operand being recorded is a script that is run.
	script bool
	// fn is the function whose body is being read, arguments the operands in bodies
	// that calls give their value.
	fn        string
	arguments []argument
	lets      []let
	// stdin is where `exec <file` leads the input of all that follows.
	stdin stdin
	body  string
	// funcs are the functions that the text defines; runsArgs: some function runs
	// its arguments.
	funcs    []string
	runsArgs bool
	// arith: something is evaluated as arithmetic; prompt: something is expanded
	// as a prompt. tainted are values that run commands then.
	arith, prompt bool
	tainted       []taint
	// light: only the parts are wanted, for a comparison.
	light bool
	// used: a guess used a known value; choice: it had another one to try.
	used, choice bool
	zsh          bool
}

// part is a part and where it stands.
type part struct {
	model.Part
	pos int
}

type redirectAt struct {
	model.Redirect
	shown string
	pos   int
	inner bool
}

type taint struct {
	value string
	part  int
}

func (a *analysis) reset(c *model.Command) {
	clear(a.parts)
	clear(a.redirs)
	clear(a.seq[:cap(a.seq)])
	clear(a.scratch[:cap(a.scratch)])
	*a = analysis{
		c: c, parts: a.parts[:0], redirs: a.redirs[:0], buf: a.buf[:0], scratch: a.scratch[:0],
		seq: a.seq[:0], stages: a.stages[:0], dirKnown: true,
	}
	if cap(a.scratch) > 4096 {
		a.scratch = nil
	}
	if cap(a.parts) > 256 {
		a.parts = nil
	}
}

// reason makes the command opaque.
func (a *analysis) reason(r reason) {
	if a.seen[r] {
		return
	}
	a.seen[r] = true
	c := a.c
	c.Opaque = true
	c.Reasons = append(c.Reasons, reasonTable[r].code)
	if r.unreadable() {
		a.unreadable = true
		c.Grade = model.GradeUnparseable
	} else if c.Grade == model.GradeStatic {
		c.Grade = model.GradeDynamic
	}
}

// read analyses the whole text with one grammar.
func (a *analysis) read(text string, g grammar, zsh bool) {
	a.zsh = zsh
	if !checkText(text, a.reason) {
		a.c.Naive = naive(text)
		return
	}
	w := walker{a: a, text: text, g: g, zsh: zsh, owner: -1}
	w.read(ctx{}, true)
	if a.light {
		a.order()
		return
	}
	a.injections(&w)
	a.finish()
}

// agree reads the text with another grammar and compares.
func (a *analysis) agree(text string, g grammar) {
	b := analyses.Get().(*analysis)
	b.reset(&model.Command{})
	b.light = true
	b.read(text, g, a.zsh)
	same := len(a.c.Parts) == len(b.parts) && !b.seen[rParse]
	for i := 0; same && i < len(b.parts); i++ {
		same = a.c.Parts[i].Canonical == b.parts[i].Canonical
	}
	if !same {
		a.reason(rDialect)
		for i := range b.parts {
			p := &b.parts[i]
			if !slices.ContainsFunc(a.c.Parts, func(q model.Part) bool { return q.Canonical == p.Canonical }) {
				a.c.Naive = append(a.c.Naive, p.Canonical)
			}
		}
		if len(a.c.Naive) < maxListed {
			a.c.Naive = append(a.c.Naive, naive(text)...)
		}
	}
	for r := rTooMany; r < reasonCount; r++ {
		if b.seen[r] {
			a.reason(r)
		}
	}
	b.c = nil
	analyses.Put(b)
}

// order puts the parts in the order of the source, and everything that points
// to a part behind them.
func (a *analysis) order() {
	if slices.IsSortedFunc(a.parts, func(x, y part) int { return x.pos - y.pos }) {
		return
	}
	ids := make([]int, len(a.parts))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(x, y int) int { return a.parts[x].pos - a.parts[y].pos })
	sorted := make([]part, len(ids))
	to := make([]int, len(ids))
	for n, id := range ids {
		sorted[n], to[id] = a.parts[id], n
	}
	copy(a.parts, sorted)
	for i := range a.redirs {
		if p := a.redirs[i].Part; p >= 0 {
			a.redirs[i].Part = to[p]
		}
	}
	for i := range a.files {
		if p := a.files[i].Part; p >= 0 {
			a.files[i].Part = to[p]
		}
	}
}

// finish fills the command from what was found.
func (a *analysis) finish() {
	c := a.c
	a.order()
	if len(a.parts) > MaxParts {
		a.reason(rTooMany)
	}
	if len(a.parts) > 0 {
		c.Parts = make([]model.Part, len(a.parts))
		for i := range a.parts {
			c.Parts[i] = a.parts[i].Part
		}
	}
	if len(a.redirs) > 0 {
		slices.SortStableFunc(a.redirs, func(x, y redirectAt) int { return x.pos - y.pos })
		for i := range a.redirs {
			r := &a.redirs[i]
			if r.Part == ownRedirect {
				r.Part = -1
			}
			c.Redirects = append(c.Redirects, r.Redirect)
			switch {
			case r.inner:
			case r.Access == model.AccessRead:
				c.Reads = append(c.Reads, r.shown)
			default:
				c.Writes = append(c.Writes, r.shown)
			}
		}
	}
	c.Files = a.files
	if folded := foldBlanks(c.Source); folded != c.Source && (len(c.Parts) != 1 || c.Parts[0].Canonical != folded) {
		a.line(folded)
	}
	if c.Opaque {
		c.Naive = naive(c.Source)
	}
}

// foldBlanks makes every run of blanks and newlines one blank.
func foldBlanks(s string) string {
	blank := true
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if blank {
				return strings.Join(strings.Fields(s), " ")
			}
			blank = true
		case '\t', '\n':
			return strings.Join(strings.Fields(s), " ")
		default:
			blank = false
		}
	}
	return strings.TrimSuffix(s, " ")
}
