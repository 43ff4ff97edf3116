package facts

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/shell"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// Gather reads a call. It always returns a call that can be decided: input
// errors are facts, and a path that cannot be resolved is Call.Err.
func (x *Context) Gather(call *model.Call) *Call {
	c := &Call{}
	x.describe(c, call)
	if err := x.targets(c, call); err != nil {
		var input *toolcall.InputError
		if errors.As(err, &input) {
			c.InputErr, c.Input.Error = err, err.Error()
			c.Input.Targets = []model.Target{}
			c.Input.Facts = model.FactInputError
			return c
		}
		c.Err, c.Input.Error = err, err.Error()
		return c
	}
	x.Rules.Match(&c.query, &c.match)
	x.observe(c, call)
	return c
}

// Query reads a call as far as rules look at it. The error is a
// *[toolcall.InputError] if the call cannot be read, else that of a path that
// cannot be resolved.
func (x *Context) Query(call *model.Call) (*rules.Query, error) {
	c := &Call{}
	x.describe(c, call)
	if err := x.targets(c, call); err != nil {
		return nil, err
	}
	return &c.query, nil
}

// describe fills what is known before the arguments are read.
func (x *Context) describe(c *Call, call *model.Call) {
	mode := x.Mode
	if call.Mode == model.ModePlan {
		mode = model.ModePlan
	}
	c.Input = model.Input{
		Tool: call.Tool, Called: call.Tool, Mode: mode, Isolation: x.Isolation,
		Unattended: x.Unattended != "", Agent: call.Agent, CallID: call.CallID,
		Root: x.Guard.Root(), Home: x.Guard.Home(), Cwd: call.Cwd, Targets: []model.Target{},
	}
}

// targets decodes the arguments and asks the path guard, the shell analysis and
// the host parser about each target.
func (x *Context) targets(c *Call, call *model.Call) error {
	d, err := x.Table.Decode(*call)
	if err != nil {
		return err
	}
	c.decoded = d
	cwd := x.workdir(call.Cwd, d.Workdir)
	c.Input.Tool, c.Input.Class, c.Input.ReadOnly, c.Input.Args = d.Tool, d.Class, d.ReadOnly, call.Args
	c.Input.Cwd = cwd
	c.query.Tool, c.query.Called, c.query.Class = d.Tool, call.Tool, d.Class
	c.Input.Targets = d.Targets
	var more []model.Target
	for i := range c.Input.Targets {
		t := &c.Input.Targets[i]
		switch t.Kind {
		case model.KindPath:
			var found []model.Path
			if t.Path, found, err = x.place(t, cwd); len(found) > 0 {
				more = append(more, targetsOf(t, found)...)
			}
		case model.KindCommand:
			err = x.command(t, call, d.ShellHint, cwd)
		case model.KindURL:
			err = x.url(t, call)
		}
		if err != nil {
			return inputError(call.Tool, t, err)
		}
	}
	c.Input.Targets = append(c.Input.Targets, more...)
	if err := x.readGit(c, d.Git, cwd); err != nil {
		return inputError(call.Tool, &model.Target{Kind: model.KindInput}, err)
	}
	c.query.Targets, c.query.Unextractable = c.Input.Targets, d.Unextractable
	return nil
}

// workdir is the folder that a call's relative paths start at.
func (x *Context) workdir(cwd, workdir string) string {
	if workdir == "" {
		return cwd
	}
	if workdir = x.expand(workdir, cwd); path.IsAbs(workdir) || strings.HasPrefix(workdir, "~") {
		return workdir
	}
	if cwd == "" {
		cwd = x.Guard.Root()
	}
	// Joined as text, not cleaned: the kernel follows a link before its "..".
	return cwd + "/" + workdir
}

func (x *Context) command(t *model.Target, call *model.Call, hint, cwd string) error {
	if x.Strict && t.OutsideSandbox {
		return &toolcall.InputError{Tool: call.Tool, Field: "outside_sandbox", Problem: "the strict profile runs no command outside the sandbox: leave it out"}
	}
	sh, known := x.shellOf(call, hint)
	t.Command = shell.Analyze(t.Source, sh)
	if !known {
		// Its grammar is not covered: what the analysis saw serves deny rules only.
		t.Opaque, t.Grade = true, model.GradeUnparseable
		t.Reasons = append([]string{foreignShell}, t.Reasons...)
	}
	return x.references(t, cwd)
}

// foreignShell is the analysis' own code for a script in another shell's words.
const foreignShell = "foreign-shell"

// shellOf says which shell will run a command; known is false for one whose
// grammar lictor does not read.
func (x *Context) shellOf(call *model.Call, hint string) (sh model.Shell, known bool) {
	switch sh = model.Shell(hint); sh {
	case model.ShellUnknown:
	case model.ShellBash, model.ShellZsh, model.ShellPOSIX:
		return sh, true
	default:
		return model.ShellUnknown, false
	}
	switch {
	case x.Isolation == model.IsolationOS:
		return model.ShellBash, true // lictor's own executor
	case call.Shell != model.ShellUnknown:
		return call.Shell, true
	}
	return x.Shell, true
}

// references resolves the redirections and mentions of a command.
func (x *Context) references(t *model.Target, cwd string) error {
	there := &search{}
	for _, r := range t.Redirects {
		ref := model.PathRef{Access: r.Access, Part: r.Part, Dynamic: !r.Static}
		if !r.Static {
			ref.Text = r.Value
			t.Redirections = append(t.Redirections, ref)
			continue
		}
		if harmless(r.Value) {
			continue
		}
		if connects(r.Value) {
			x.mention(t, &model.FileUse{Value: r.Value, Access: r.Access, DirKnown: true, Part: r.Part, Program: ">"}, cwd, there)
			continue
		}
		at, known, err := x.locate(r.Value, r.Dir, r.DirKnown, cwd)
		if err != nil {
			return err
		}
		if ref.Path = at; !known {
			ref.Dynamic = true
			x.mention(t, &model.FileUse{Value: r.Value, Access: r.Access, Dir: r.Dir, Part: r.Part, Program: ">"}, cwd, there)
		} else if r.Dir != "" && !rooted(r.Value) && !there.folder(x, t, r.Dir, cwd) {
			x.mention(t, &model.FileUse{Value: r.Value, Access: r.Access, Part: r.Part, Program: ">"}, cwd, there)
		}
		t.Redirections = append(t.Redirections, ref)
	}
	for i := range t.Files {
		if !harmless(t.Files[i].Value) {
			x.mention(t, &t.Files[i], cwd, there)
		}
	}
	if there.over || len(t.Files) >= shell.MaxFiles {
		// Which files it touches is not known as a whole, so nothing covers it.
		t.Opaque, t.Grade = true, model.GradeUnparseable
		if !slices.Contains(t.Reasons, tooManyFiles) {
			t.Reasons = append(t.Reasons, tooManyFiles)
		}
	}
	return nil
}

// tooManyFiles is the code of a text that names more files than are looked at.
const tooManyFiles = "too-many"

// mention adds the files that an operand may be. One that starts in a folder that
// the text does not say (cd "$dir" && cat .env) is looked for in each folder that
// may well be meant: a prohibition must not be lifted by a `cd`.
func (x *Context) mention(t *model.Target, f *model.FileUse, cwd string, there *search) {
	if f.DirKnown || rooted(f.Value) {
		t.Mentions = append(t.Mentions, x.operand(f, cwd, there)...)
		if rooted(f.Value) || f.Dir == "" || there.folder(x, t, f.Dir, cwd) {
			return
		}
		// The cd fails, unless something makes the folder: what follows starts here.
		stay := *f
		stay.Dir, stay.DirKnown = "", false
		f = &stay
	}
	if cwd == "" {
		cwd = x.Guard.Root()
	}
	fresh := strings.HasPrefix(f.Dir, shell.FreshDir)
	var bases []string
	switch {
	case fresh:
		bases = []string{f.Dir}
	case f.Glob && strings.Trim(f.Value, "*?./") == "":
		// * in a folder that is not known names nothing.
		if f.Dir == "" {
			return
		}
		bases = []string{cwd + "/" + f.Dir, x.Guard.Root() + "/" + f.Dir}
		if rooted(f.Dir) {
			bases = []string{f.Dir}
		}
	case rooted(f.Dir):
		bases = []string{f.Dir, cwd, x.Guard.Root()}
	default:
		bases = []string{cwd + "/" + f.Dir, cwd, x.Guard.Root() + "/" + f.Dir, x.Guard.Root()}
	}
	from := len(t.Mentions)
	for i, base := range bases {
		guess := *f
		guess.Dir, guess.DirKnown = base, true
		for _, ref := range x.operand(&guess, cwd, there) {
			// A folder that the text names is no guess.
			ref.Guess = ref.Guess || fresh || i > 0 || f.Dir == "" || strings.HasPrefix(f.Dir, "..")
			if !slices.ContainsFunc(t.Mentions[from:], func(m model.PathRef) bool { return m.Real == ref.Real }) {
				t.Mentions = append(t.Mentions, ref)
			}
		}
	}
}

// search is what is known of the disk while the operands of one text are looked up,
// and what that may cost.
type search struct {
	// known says which folders are there, made which ones the text makes.
	known  map[string]bool
	made   []string
	looked bool
	// listings are the folders that globs have read.
	listings map[string]*listing
	// paths and names count what was resolved and matched; over says that it was
	// too much, so that files are missing among the mentions.
	paths, names int
	over         bool
}

// The most that the operands of one text may cost: paths that are resolved, and
// names that are matched against a glob.
const (
	maxPaths = 8192
	maxNames = 1 << 20
)

// path counts one more path, and reports whether it may be resolved.
func (there *search) path() bool {
	there.paths++
	there.over = there.over || there.paths > maxPaths
	return !there.over
}

// folder reports whether a folder that cd went to is there, or made by the text.
func (there *search) folder(x *Context, t *model.Target, dir, cwd string) bool {
	is, known := there.known[dir]
	if !known {
		if there.known == nil {
			there.known = map[string]bool{}
		}
		at, _, err := x.locate(".", dir, true, cwd)
		is = err != nil || exists(at.Real) || there.makes(x, t, at.Real, cwd)
		there.known[dir] = is
	}
	return is
}

func (there *search) makes(x *Context, t *model.Target, dir, cwd string) bool {
	for i := 0; i < len(t.Files) && !there.looked && len(there.made) < maxMade; i++ {
		if f := &t.Files[i]; f.Access == model.AccessWrite && (f.Program == "mkdir" || f.Program == "git") {
			if at, known, err := x.locate(f.Value, f.Dir, f.DirKnown, cwd); err == nil && known {
				there.made = append(there.made, at.Real)
			}
		}
	}
	there.looked = true
	return slices.ContainsFunc(there.made, func(made string) bool { return made == dir || strings.HasPrefix(made, dir+"/") })
}

// operand resolves a file operand whose folder is known. It is a guess about an
// operand: what cannot be resolved, such as a name that is too long, is no path of
// this machine.
func (x *Context) operand(f *model.FileUse, cwd string, there *search) []model.PathRef {
	if f.Glob {
		return x.globbed(f, cwd, false, there)
	}
	if !there.path() {
		return nil
	}
	at, known, err := x.locate(f.Value, f.Dir, f.DirKnown, cwd)
	if err != nil || !known {
		return nil
	}
	return []model.PathRef{{Access: f.Access, Path: at, Part: f.Part, Program: f.Program, Guess: f.Script}}
}

func (x *Context) url(t *model.Target, call *model.Call) error {
	u, err := netguard.ParseURL(t.URL)
	if err != nil {
		return err
	}
	t.URL, t.Host = u.Text, u.Host
	t.AlwaysAsk = t.AlwaysAsk || call.AlwaysAsk || netguard.AlwaysAsk(u)
	return nil
}
