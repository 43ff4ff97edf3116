package approve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Style says what a piece of text is; Render turns it into colours.
type Style uint8

// The styles of a document.
const (
	StylePlain Style = iota
	StyleTitle
	StyleHeading
	StyleDanger
	StyleCaution
	StyleDim
	StyleAdded
	StyleRemoved
	StyleHunk
	StyleUncovered
	StyleCovered
)

// Span is a piece of a row. Its text is safe to show.
type Span struct {
	Text  string
	Style Style
}

// Row is one line of a document before it is fitted to a width.
type Row struct {
	Spans []Span
	// Indent is how far the lines after the first are moved in.
	Indent int
	// Hunk is the number of the hunk that the row belongs to, 0 for none; Head
	// marks its first row.
	Hunk int
	Head bool
}

func row(style Style, text string) Row { return Row{Spans: []Span{{text, style}}} }

func indented(spans ...Span) Row { return Row{Spans: spans, Indent: 4} }

// Document is a question as people read it: what will happen first, then what is
// dangerous about it, why it is asked, the parts that no rule covers, the diff,
// and what each answer would add. Every character shows as it is.
func Document(request *model.Request) []Row {
	d := document{request: request}
	d.title()
	d.targets()
	d.warnings()
	d.why()
	d.parts()
	d.preview()
	d.changes()
	d.adds()
	return d.rows
}

type document struct {
	request *model.Request
	rows    []Row
}

func (d *document) add(rows ...Row) { d.rows = append(d.rows, rows...) }

func (d *document) blank() {
	if len(d.rows) > 0 && len(d.rows[len(d.rows)-1].Spans) > 0 {
		d.add(Row{})
	}
}

// Title is the headline of a question.
func Title(request *model.Request) string {
	if request.Title != "" {
		return visible(request.Title)
	}
	tool := visible(request.Tool)
	if tool == "" {
		tool = "a tool"
	}
	if len(request.Targets) == 0 {
		return tool + " wants to run"
	}
	t := &request.Targets[0]
	switch t.Kind {
	case model.KindCommand:
		if t.OutsideSandbox {
			return tool + " wants to run a command OUTSIDE the sandbox"
		}
		return tool + " wants to run a command"
	case model.KindPath:
		return tool + " wants to " + verb(t.Access) + " " + count(len(request.Targets), "a file", "files")
	case model.KindURL:
		return tool + " wants to connect to " + visible(t.Host.Host)
	}
	return tool + " wants to run"
}

func verb(access model.Access) string {
	switch access {
	case model.AccessWrite:
		return "write"
	case model.AccessDelete:
		return "DELETE"
	case model.AccessList:
		return "list"
	}
	return "read"
}

func count(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (d *document) title() {
	d.add(row(StyleTitle, Title(d.request)))
	if d.request.Question != "" {
		d.add(row(StylePlain, visible(d.request.Question)))
	}
}

func (d *document) targets() {
	d.blank()
	for i := range d.request.Targets {
		t := &d.request.Targets[i]
		switch t.Kind {
		case model.KindCommand:
			if t.Command != nil {
				d.command(t)
			}
		case model.KindPath:
			if !d.changed(t) {
				d.path(t)
			}
		case model.KindURL:
			d.add(indented(Span{"  " + visible(t.URL), StyleHeading}))
		default:
			if t.Descriptor != "" {
				d.add(indented(Span{"  " + visible(t.Descriptor), StyleHeading}))
			}
			if len(t.JSON) > 0 {
				for _, line := range visibleLines(string(t.JSON)) {
					d.add(indented(Span{"  " + line, StylePlain}))
				}
			}
		}
	}
}

// changed reports whether a diff below says the same and more.
func (d *document) changed(t *model.Target) bool {
	return t.Access.Changes() && !t.Moved && slices.ContainsFunc(d.request.Changes, func(c model.Change) bool {
		return c.Path == t.Rel && c.Delete == (t.Access == model.AccessDelete)
	})
}

func (d *document) path(t *model.Target) {
	name := t.Rel
	if name == "" {
		name = t.Text
	}
	spans := []Span{{"  " + verb(t.Access) + " ", StylePlain}, {visible(name), StyleHeading}}
	if t.Moved && t.RealRel != "" {
		spans = append(spans, Span{" leads to " + visible(t.RealRel), StyleCaution})
	}
	d.add(indented(spans...))
}

// command shows the text of a command with the parts marked that no rule covers.
func (d *document) command(t *model.Target) {
	marks := marks(t.Source, d.request.Parts)
	first := true
	for line, at := range lines(t.Source) {
		lead := "  $ "
		if !first {
			lead = "  > "
		}
		first = false
		spans := []Span{{lead, StyleDim}}
		for from := 0; from < len(line); {
			to := from + 1
			for to < len(line) && marks[at+to] == marks[at+from] {
				to++
			}
			spans = append(spans, Span{visibleLine(line[from:to]), marks[at+from]})
			from = to
		}
		d.add(indented(spans...))
	}
	where := "  runs in the OS sandbox"
	style := StyleCovered
	switch {
	case t.OutsideSandbox:
		where, style = "  runs OUTSIDE the sandbox", StyleDanger
	case d.request.Isolation != model.IsolationOS:
		where, style = "  runs without a sandbox", StyleCaution
	}
	d.add(row(style, where))
	if t.Opaque {
		text := "  may run more than its text says"
		if len(t.Reasons) > 0 {
			text += " (" + visible(strings.Join(t.Reasons, ", ")) + ")"
		}
		d.add(indented(Span{text, StyleDanger}))
	}
}

// lines yields each line of a text with its place.
func lines(text string) func(func(string, int) bool) {
	return func(yield func(string, int) bool) {
		at := 0
		for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			if !yield(line, at) {
				return
			}
			at += len(line) + 1
		}
	}
}

// marks gives each byte of a command its style. A part whose text is spelled
// otherwise in the command is not found; the list of parts names it all the same.
func marks(source string, parts []model.AskedPart) []Style {
	out := make([]Style, len(source)+1)
	for i := range out {
		out[i] = StyleHeading
	}
	at := 0
	for _, part := range parts {
		found := -1
		if part.Text != "" {
			found = strings.Index(source[at:], part.Text)
		}
		if found < 0 {
			continue
		}
		from := at + found
		style := StyleUncovered
		if part.Covered {
			style = StyleCovered
		}
		for i := from; i < from+len(part.Text); i++ {
			out[i] = style
		}
		// The next part may lie inside this one ("echo $(rm x)").
		at = from + 1
	}
	return out
}

func (d *document) warnings() {
	list := Dangers(d.request)
	hidden := Hidden(d.request)
	if len(list) > 0 || len(hidden) > 0 {
		d.blank()
	}
	for _, danger := range list {
		// Where a command runs stands right below it.
		if danger.Class == DangerUnconfined || danger.Class == DangerUnsandboxed {
			continue
		}
		style, mark := StyleCaution, "  - "
		if danger.High {
			style, mark = StyleDanger, "  ! "
		}
		d.add(indented(Span{mark + danger.Text, style}))
	}
	for _, text := range hidden {
		d.add(Row{Spans: []Span{{"    hidden characters in the " + text, StyleDanger}}, Indent: 6})
	}
}

func (d *document) why() {
	v := &d.request.Verdict
	reason := v.Reason
	if v.Rule != nil && !strings.Contains(reason, v.Rule.Text) {
		reason = strings.TrimPrefix(reason+"; asked by ", "; ") + v.Rule.Text + " in " + v.Rule.Source
	}
	if reason == "" {
		return
	}
	d.blank()
	d.add(indented(Span{"Why: ", StyleDim}, Span{visible(reason), StylePlain}))
}

func (d *document) parts() {
	parts := d.request.Parts
	if len(parts) < 2 {
		return
	}
	missing := 0
	for i := range parts {
		if !parts[i].Covered {
			missing++
		}
	}
	d.blank()
	d.add(row(StylePlain, fmt.Sprintf("Parts: %d, of which no rule covers %d", len(parts), missing)))
	for i := range parts {
		p := &parts[i]
		switch {
		case !p.Covered:
			d.add(indented(Span{"  ? ", StyleUncovered}, Span{visible(p.Text), StyleUncovered}))
		case p.Rule != "":
			d.add(indented(Span{"  ✓ " + visible(p.Text), StyleCovered}, Span{"  " + visible(p.Rule), StyleDim}))
		default:
			d.add(indented(Span{"  ✓ " + visible(p.Text), StyleCovered}))
		}
	}
}

func (d *document) preview() {
	if d.request.Preview == "" {
		return
	}
	d.blank()
	for _, line := range visibleLines(d.request.Preview) {
		d.add(indented(Span{"  " + line, StylePlain}))
	}
}

func (d *document) adds() {
	first := true
	for _, answer := range Choices(d.request) {
		rules := Adds(d.request, answer)
		if len(rules) == 0 {
			continue
		}
		if first {
			d.blank()
			first = false
		}
		where := "remembers, in memory only"
		switch answer {
		case model.AnswerAlways:
			where = "adds to your permission file (undo: lictor rules remove --last)"
		case model.AnswerNever:
			where = "adds a deny rule to your permission file"
		}
		d.add(indented(Span{fmt.Sprintf("%q %s:", Label(d.request, answer), where), StyleDim}))
		for _, rule := range rules {
			d.add(indented(Span{"    " + visible(rule), StylePlain}))
		}
	}
}

// Summary is a question on one line, for lists and the record: the tool and what
// it touches.
func Summary(request *model.Request) string {
	out := what(request)
	if list := Dangers(request); len(list) > 0 {
		var names []string
		for _, d := range list {
			names = append(names, string(d.Class))
		}
		out += " [" + strings.Join(names, " ") + "]"
	}
	return out
}
