package facts

import (
	"os"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/rules"
)

// observe sets the facts of a call whose targets and rule matches are known.
func (x *Context) observe(c *Call, call *model.Call) {
	f := &c.Input.Facts
	set := func(fact model.Facts, holds bool) {
		if holds {
			*f |= fact
		}
	}
	set(model.FactPlan, c.Input.Mode == model.ModePlan)
	set(model.FactReadOnly, c.Input.ReadOnly)
	set(model.FactUnattended, x.Unattended != "")
	set(model.FactAskFirst, x.AskFirst)
	set(model.FactDenied, len(c.match.Deny) > 0)
	set(model.FactAsked, len(c.match.Ask) > 0)
	x.observeTargets(c, set)
	x.observePaths(c, set)
	x.observeGit(c, set)
	set(model.FactProtected, c.protected != nil)
	if x.Team != nil {
		c.policy = x.Team.check(x, c)
		set(model.FactPolicy, c.policy != nil)
	}
	x.observeCover(c, set)
}

// observeTargets looks at kinds: what plan mode, the sandbox and always_ask ask.
func (x *Context) observeTargets(c *Call, set func(model.Facts, bool)) {
	// The sandbox answers for commands only: a URL or another target beside one is
	// not confined by it.
	command, confined := false, true
	for i := range c.Input.Targets {
		t := &c.Input.Targets[i]
		switch t.Kind {
		case model.KindPath:
			confined = false
			set(model.FactChange, true)
		case model.KindCommand:
			command = true
			confined = confined && x.Isolation == model.IsolationOS && !t.OutsideSandbox
			set(model.FactUnparseable, t.Grade == model.GradeUnparseable)
			if answer := answersForUser(t.Command); answer != "" && c.protected == nil {
				c.protected = &protectedHit{command: answer}
			}
		case model.KindURL:
			confined = false
			set(model.FactAlwaysAsk, t.AlwaysAsk)
		default:
			confined = false
		}
	}
	// A path tool whose paths could not be found out changes paths all the same.
	set(model.FactChange, c.Input.Tool == "remember" || c.decoded.Kind == model.KindPath)
	set(model.FactCommand, command)
	set(model.FactConfined, command && confined)
}

// observePaths looks at every path of the call: its path targets, and the
// redirections and mentions of its commands, in the order of Match.Paths.
func (x *Context) observePaths(c *Call, set func(model.Facts, bool)) {
	for i := range c.match.Paths {
		pm := &c.match.Paths[i]
		target := &c.Input.Targets[pm.Target]
		path, access := &target.Path, target.Access
		guarded, whole := true, true // step 0b speaks of path targets and redirections
		if ref := reference(target, pm.Ref); ref != nil {
			path, access = &ref.Path, ref.Access
			guarded, whole = pm.Ref < len(target.Redirections), ref.Program != "find"
			if path.Rel == "" {
				continue // a dynamic redirection has no path
			}
		}
		gone := target.Role == model.RoleSource && c.Input.Class == "Move"
		x.observePath(c, path, access, gone, pm, guarded, whole, set)
	}
}

// observePath looks at one path. gone says that the call takes it away, though it
// only reads it; guarded that step 0b speaks of it; whole that a folder is deleted
// as a whole, not searched for what to delete (find -delete).
func (x *Context) observePath(c *Call, path *model.Path, access model.Access, gone bool, pm *rules.PathMatch, guarded, whole bool, set func(model.Facts, bool)) {
	if guarded && !(path.Inside && path.RealInside) && !x.lifts(pm.AbsAllow) && !x.lifts(pm.AbsAsk) {
		hit := &pathHit{path: *path, real: path.Inside, access: access}
		if x.AskOutside {
			set(model.FactOutsideAsk, true)
			c.outsideAsk = first(c.outsideAsk, hit)
		} else {
			set(model.FactOutside, true)
			c.outside = first(c.outside, hit)
		}
	}
	if sensitive, real := either(path, x.Fold, pathguard.Sensitive); sensitive && pm.NamedAllow == nil {
		hit := &pathHit{path: *path, real: real, access: access, rule: pm.NamedAsk}
		if pm.NamedAsk != nil {
			set(model.FactSensitiveAsk, true)
			c.sensitiveAsk = first(c.sensitiveAsk, hit)
		} else {
			set(model.FactSensitive, true)
			c.sensitive = first(c.sensitive, hit)
		}
	}
	if c.protected != nil || !access.Changes() && !gone {
		return
	}
	protected, real := either(path, x.Fold, pathguard.Protected)
	if !protected && path.Place != "" {
		protected, real = pathguard.Protected(path.Place, x.Fold), true
	}
	if !protected && (gone || access == model.AccessDelete && whole) {
		protected = x.holdsProtected(path)
	}
	if protected {
		c.protected = &protectedHit{pathHit: pathHit{path: *path, real: real, access: access}}
	}
}

// holdsProtected reports whether taking a folder away takes a repository or
// lictor's files with it: the root, what lies above it, or a folder with either.
func (x *Context) holdsProtected(p *model.Path) bool {
	root := x.Guard.RealRoot()
	if p.Real == root || strings.HasPrefix(root, strings.TrimSuffix(p.Real, "/")+"/") {
		return true
	}
	for _, name := range []string{".git", ".lictor"} {
		if inside, err := x.Guard.Resolve(p.Real+"/"+name, ""); err == nil && exists(inside.Real) {
			return true
		}
	}
	return false
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// observeCover finds out whether rules, or the session's answers together with
// rules, cover every target.
func (x *Context) observeCover(c *Call, set func(model.Facts, bool)) {
	if c.decoded.Unextractable || x.gitBeyondRules(c) {
		return // what it touches or runs is not known, so nothing covers it
	}
	if c.match.Covered {
		set(model.FactAllowed, true)
		return
	}
	if x.Session == nil || len(c.Input.Targets) == 0 {
		return
	}
	for i := range c.Input.Targets {
		if c.match.TargetCovered[i] {
			continue
		}
		rule := x.Session.Covers(c.Input.Tool, &c.Input.Targets[i])
		if rule == nil {
			return
		}
		c.session = rule
	}
	set(model.FactSession, c.session != nil)
}

// lifts reports whether a rule with an absolute pattern may open the root. A
// project's own rules may only with the user's consent.
func (x *Context) lifts(r *model.Rule) bool {
	return r != nil && (x.Lifts == nil || x.Lifts(r))
}

// either asks a name table about the path as written and about where it leads.
func either(p *model.Path, fold bool, table func(string, bool) bool) (hit, real bool) {
	if table(p.Rel, fold) {
		return true, false
	}
	if p.Moved && table(p.RealRel, fold) {
		return true, true
	}
	return false, false
}

func first(have, hit *pathHit) *pathHit {
	if have != nil {
		return have
	}
	return hit
}

// userCommands are the commands of lictor with which a person answers or
// consents; an agent that runs one would answer for them (SPEC step 2).
var userCommands = map[string][]string{
	"approve": nil, "trust": nil, "install": nil, "uninstall": nil, "init": nil,
	"rules": {"add", "remove"}, "audit": {"ack"},
}

// answersForUser returns the command with which the text would answer for the
// user, or "". An opaque text is searched word by word as well.
func answersForUser(c *model.Command) string {
	for i := range c.Parts {
		p := &c.Parts[i]
		if answers(p.Program, p.Args) {
			return p.Canonical
		}
		for j := range p.Inner {
			if answers(p.Inner[j].Program, p.Inner[j].Args) {
				return p.Inner[j].Flat
			}
		}
	}
	for _, text := range c.Naive {
		words := strings.Fields(text)
		for i, w := range words {
			if answers(w, words[i+1:]) {
				return text
			}
		}
	}
	return ""
}

func answers(program string, args []string) bool {
	if i := strings.LastIndexAny(program, `/\`); i >= 0 {
		program = program[i+1:]
	}
	if program = strings.TrimSuffix(program, ".exe"); program != "lictor" && !strings.EqualFold(program, "lictor") {
		return false
	}
	for i, a := range args {
		subs, ok := userCommands[a]
		if !ok {
			continue // a flag or its value
		}
		if subs == nil {
			return true
		}
		for _, sub := range args[i+1:] {
			for _, s := range subs {
				if sub == s {
					return true
				}
			}
		}
	}
	return false
}
