package facts

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/shell"
)

// readGit reads a call of the git tool as the command that it is: its words name
// files, hosts and programs as much as they would in a shell.
func (x *Context) readGit(c *Call, words []string, cwd string) error {
	if words == nil {
		return nil
	}
	text := "git"
	for _, w := range words {
		text += " '" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	t := &model.Target{Kind: model.KindCommand, Command: shell.Analyze(text, model.ShellBash)}
	if err := x.references(t, cwd); err != nil {
		return err
	}
	c.git = t
	return nil
}

// observeGit adds what the words of a git call mean to the facts. They can only
// tighten: deny and ask rules for commands and for the files that git names, the
// team policy, sensitive and protected files.
func (x *Context) observeGit(c *Call, set func(model.Facts, bool)) {
	if c.git == nil {
		return
	}
	q := rules.Query{Tool: "bash", Called: "git", Class: "Bash", Targets: []model.Target{*c.git}}
	x.Rules.Match(&q, &c.gitMatch)
	set(model.FactDenied, len(c.gitMatch.Deny) > 0)
	set(model.FactAsked, len(c.gitMatch.Ask) > 0)
	for _, refs := range [][]model.PathRef{c.git.Redirections, c.git.Mentions} {
		for i := range refs {
			if refs[i].Rel != "" {
				x.observePath(c, &refs[i].Path, refs[i].Access, false, &rules.PathMatch{}, false, true, set)
			}
		}
	}
}

// gitBeyondRules reports whether a git call may run a program of its own or touch
// a file outside the root: then no rule for git covers it.
func (x *Context) gitBeyondRules(c *Call) bool {
	if c.git == nil {
		return false
	}
	if c.git.Opaque {
		return true
	}
	for i := range c.git.Parts {
		for j := range c.git.Parts[i].Inner {
			if c.git.Parts[i].Inner[j].Program != "git" {
				return true
			}
		}
	}
	for i := range c.git.Mentions {
		if m := &c.git.Mentions[i]; !m.Guess && !(m.Inside && m.RealInside) {
			return true
		}
	}
	return false
}
