package bundle

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/model"
)

// document turns the input of a call into the document that a stock OPA would
// read from its JSON. It is written out by hand because marshalling and parsing
// costs more than the evaluation; a test holds it against the JSON.
func document(input *model.Input) (ast.Value, error) {
	w := writer{}
	o := w.object(16)
	o.text("tool", input.Tool)
	o.some("called", input.Called)
	o.some("class", input.Class)
	o.json("args", input.Args)
	o.flag("read_only", input.ReadOnly)
	o.text("mode", string(input.Mode))
	o.text("isolation", string(input.Isolation))
	o.flag("unattended", input.Unattended)
	o.some("agent", input.Agent)
	o.some("call_id", input.CallID)
	o.text("root", input.Root)
	o.some("cwd", input.Cwd)
	o.some("home", input.Home)
	o.some("error", input.Error)
	o.put("targets", list(input.Targets, func(t *model.Target) *ast.Term { return w.target(t) }))
	facts := w.object(8)
	for bit, name := range model.FactNames {
		if input.Facts&(1<<bit) != 0 {
			facts.flag(name, true)
		}
	}
	o.put("facts", facts.term())
	if w.size > eval.InputLimit {
		return nil, fmt.Errorf("the input document has more than %d bytes", eval.InputLimit)
	}
	return o.term().Value, w.err
}

// writer counts the bytes that it is given, for builtin functions that cannot be
// interrupted are bounded by what they are given.
type writer struct {
	size int
	err  error
	// slab holds terms: one allocation for many.
	slab []ast.Term
}

func (w *writer) newTerm(value ast.Value) *ast.Term {
	if len(w.slab) == cap(w.slab) {
		w.slab = make([]ast.Term, 0, 64)
	}
	w.slab = append(w.slab, ast.Term{Value: value})
	return &w.slab[len(w.slab)-1]
}

// keyTerms are the keys of the document, each made once.
var keyTerms = func() map[string]*ast.Term {
	terms := make(map[string]*ast.Term)
	for _, key := range strings.Fields(`tool called class args read_only mode isolation unattended agent call_id root
		cwd home error targets facts kind role descriptor access outside_sandbox redirections mentions url host port ip
		public always_ask json path_text path absolute real real_path inside real_inside moved command dialect opaque
		grade reasons parts naive lines writes reads hosts text canonical flat program assignments neutral inner via
		part dynamic guess`) {
		terms[key] = ast.StringTerm(key)
	}
	for _, key := range model.FactNames {
		terms[key] = ast.StringTerm(key)
	}
	return terms
}()

type object struct {
	w     *writer
	pairs [][2]*ast.Term
}

func (w *writer) object(size int) *object {
	return &object{w: w, pairs: make([][2]*ast.Term, 0, size)}
}

func (o *object) put(key string, value *ast.Term) {
	o.pairs = append(o.pairs, [2]*ast.Term{keyTerms[key], value})
}

func (o *object) term() *ast.Term { return o.w.newTerm(ast.NewObject(o.pairs...)) }

func (o *object) text(key, value string) {
	o.w.size += len(value)
	o.put(key, o.w.newTerm(ast.String(value)))
}

// some writes a text unless it is empty.
func (o *object) some(key, value string) {
	if value != "" {
		o.text(key, value)
	}
}

func (o *object) flag(key string, value bool) { o.put(key, ast.InternedTerm(value)) }

// on writes a flag if it holds.
func (o *object) on(key string, value bool) {
	if value {
		o.flag(key, true)
	}
}

func (o *object) texts(key string, values []string) {
	o.put(key, list(values, func(value *string) *ast.Term {
		o.w.size += len(*value)
		return o.w.newTerm(ast.String(*value))
	}))
}

func (o *object) someTexts(key string, values []string) {
	if len(values) > 0 {
		o.texts(key, values)
	}
}

// json writes a document that came as JSON, if there is one.
func (o *object) json(key string, text []byte) {
	if len(text) == 0 {
		return
	}
	o.w.size += len(text)
	if o.w.size > eval.InputLimit {
		return
	}
	value, err := ast.ValueFromReader(bytes.NewReader(text))
	if err != nil {
		o.w.err = fmt.Errorf("%s: %w", key, err)
		return
	}
	o.put(key, ast.NewTerm(value))
}

// list writes an array, or null for a nil slice, as encoding/json does.
func list[T any](values []T, write func(*T) *ast.Term) *ast.Term {
	if values == nil {
		return ast.InternedNullTerm
	}
	terms := make([]*ast.Term, len(values))
	for i := range values {
		terms[i] = write(&values[i])
	}
	return ast.ArrayTerm(terms...)
}

func (w *writer) target(t *model.Target) *ast.Term {
	o := w.object(16)
	o.text("kind", string(t.Kind))
	o.some("role", string(t.Role))
	o.some("descriptor", t.Descriptor)
	o.some("access", string(t.Access))
	o.path(&t.Path)
	if t.Command != nil {
		o.command(t.Command)
	}
	o.on("outside_sandbox", t.OutsideSandbox)
	o.references("redirections", t.Redirections)
	o.references("mentions", t.Mentions)
	o.some("url", t.URL)
	o.some("host", t.Host.Host)
	if t.Port != 0 {
		o.put("port", ast.IntNumberTerm(t.Port))
	}
	o.some("ip", t.IP)
	o.on("public", t.Public)
	o.on("always_ask", t.AlwaysAsk)
	o.json("json", t.JSON)
	return o.term()
}

func (o *object) path(p *model.Path) {
	o.some("path_text", p.Text)
	o.some("path", p.Rel)
	o.some("absolute", p.Abs)
	o.some("real", p.Real)
	o.some("real_path", p.RealRel)
	o.on("inside", p.Inside)
	o.on("real_inside", p.RealInside)
	o.on("moved", p.Moved)
}

func (o *object) command(c *model.Command) {
	o.text("command", c.Source)
	o.some("dialect", c.Dialect)
	o.flag("opaque", c.Opaque)
	o.text("grade", string(c.Grade))
	o.someTexts("reasons", c.Reasons)
	o.put("parts", list(c.Parts, func(p *model.Part) *ast.Term { return o.w.part(p) }))
	o.someTexts("naive", c.Naive)
	o.someTexts("lines", c.Lines)
	o.texts("writes", c.Writes)
	o.texts("reads", c.Reads)
	o.texts("hosts", c.Hosts)
}

func (w *writer) part(p *model.Part) *ast.Term {
	o := w.object(8)
	o.text("text", p.Text)
	o.text("canonical", p.Canonical)
	o.text("flat", p.Flat)
	o.text("program", p.Program)
	o.texts("args", p.Args)
	o.someTexts("assignments", p.Assignments)
	o.on("neutral", p.Neutral)
	o.put("inner", list(p.Inner, func(s *model.Simple) *ast.Term { return w.simple(s) }))
	return o.term()
}

func (w *writer) simple(s *model.Simple) *ast.Term {
	o := w.object(6)
	o.text("text", s.Text)
	o.text("canonical", s.Canonical)
	o.text("flat", s.Flat)
	o.text("program", s.Program)
	o.texts("args", s.Args)
	o.some("via", s.Via)
	return o.term()
}

func (o *object) references(key string, references []model.PathRef) {
	if len(references) == 0 {
		return
	}
	o.put(key, list(references, func(r *model.PathRef) *ast.Term {
		inner := o.w.object(12)
		inner.text("access", string(r.Access))
		inner.path(&r.Path)
		inner.put("part", ast.IntNumberTerm(r.Part))
		inner.some("program", r.Program)
		inner.on("dynamic", r.Dynamic)
		inner.on("guess", r.Guess)
		return inner.term()
	}))
}
