package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// gitFlags are git's global options that take no value, gitValues those whose
// value is the next word (or follows '=').
var (
	gitFlags = map[string]bool{
		"-p": true, "-P": true, "--paginate": true, "--no-pager": true, "--bare": true, "--no-replace-objects": true,
		"--no-lazy-fetch": true, "--no-optional-locks": true, "--no-advice": true, "--literal-pathspecs": true,
		"--glob-pathspecs": true, "--noglob-pathspecs": true, "--icase-pathspecs": true, "--exec-path": true,
	}
	gitValues = map[string]bool{
		"-C": true, "-c": true, "--git-dir": true, "--work-tree": true, "--namespace": true,
		"--config-env": true, "--super-prefix": true, "--attr-source": true, "--list-cmds": true,
	}
)

// gitGlobal returns how many words starting at words[at] are one global option,
// and its name; 0 at the verb.
func gitGlobal(words []string, at int) (n int, name string) {
	word := words[at]
	if !strings.HasPrefix(word, "-") || word == "-" {
		return 0, ""
	}
	name, _, joined := strings.Cut(word, "=")
	if gitValues[name] && !joined {
		return 2, name
	}
	if len(word) > 2 && (word[:2] == "-C" || word[:2] == "-c") {
		return 1, word[:2]
	}
	return 1, name
}

// gitVerb returns the words from the verb on.
func gitVerb(words []string) []string {
	for at := 0; at < len(words); {
		n, _ := gitGlobal(words, at)
		if n == 0 {
			return words[at:]
		}
		at += n
	}
	return nil
}

// gitMayAllow reports whether an allow rule may cover a git descriptor: not one
// with options that run other programs, read other configuration or work
// outside the root.
func (s *Set) gitMayAllow(text string) bool {
	if !strings.HasPrefix(strings.TrimSpace(text), "-") {
		return true
	}
	words := strings.Fields(text)
	for at := 0; at < len(words); {
		n, name := gitGlobal(words, at)
		if n == 0 {
			return isVerb(words[at])
		}
		switch {
		case name == "-C":
			if n == 1 || at+1 >= len(words) || !s.insideDir(words[at+1]) {
				return false
			}
		case !gitFlags[name] || name == "--exec-path":
			return false
		}
		at += n
	}
	return true
}

// isVerb reports whether a word can only be a git command. A folder's name with
// a blank in it would leave other words here.
func isVerb(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		return r != '-' && r != '_' && (r > 0x7f || !isLetter(byte(r)) && !isDigit(byte(r)))
	})
}

// insideDir reports whether the value of -C stays in the root.
func (s *Set) insideDir(dir string) bool {
	if s.env.Inside != nil {
		return s.env.Inside(dir)
	}
	if strings.HasPrefix(dir, "~") {
		return false
	}
	if !isAbsolute(dir) {
		clean := path.Clean(dir)
		return clean != ".." && !strings.HasPrefix(clean, "../")
	}
	clean, root := path.Clean(dir), slash(s.env.Root)
	return root != "" && (clean == root || strings.HasPrefix(clean, root+"/"))
}

// gitForms tries the deny and ask rules on a descriptor without its global
// options.
func (c *call) gitForms(i int, text string) {
	if c.own == nil || !c.own.stops || !strings.HasPrefix(text, "-") {
		return
	}
	words := strings.Fields(text)
	if verb := gitVerb(words); len(verb) > 0 {
		c.stops(c.own, i, -1, strings.Join(verb, " "))
	}
	// A value with a blank in it hides the verb: try what follows each word too.
	for at := 1; at < len(words) && at < 16; at++ {
		c.stops(c.own, i, -1, strings.Join(words[at:], " "))
	}
}

// stops tries the deny and ask rules for the whole of a group on one text.
func (c *call) stops(g *group, i, part int, text string) {
	for l := g.str.find(text); ; {
		items, ok := l.next()
		if !ok {
			return
		}
		for _, id := range items {
			if e := &c.s.entries[id]; e.effect != allow && e.tool == "" && e.str.match(text) {
				c.s.hit(c.m, id, model.Evidence{Target: i, Part: part, Ref: -1, Matched: strings.Clone(text)})
			}
		}
	}
}

// gitCommands tries the deny and ask rules of the Git class on the git commands
// that a command runs.
func (c *call) gitCommands(i int, cmd *model.Command) {
	if c.s.git == nil {
		return
	}
	for p := range cmd.Parts {
		part := &cmd.Parts[p]
		c.gitArgs(i, p, part.Program, part.Args)
		for n := range part.Inner {
			c.gitArgs(i, p, part.Inner[n].Program, part.Inner[n].Args)
		}
	}
	for _, text := range cmd.Naive {
		if words := strings.Fields(text); slices.Contains(words, "git") {
			at := slices.Index(words, "git")
			c.gitArgs(i, -1, "git", words[at+1:])
		}
	}
}

func (c *call) gitArgs(i, part int, program string, args []string) {
	if program != "git" && !strings.HasSuffix(program, "/git") {
		return
	}
	c.stops(c.s.git, i, part, c.join(args))
	if verb := gitVerb(args); len(verb) < len(args) && len(verb) > 0 {
		c.stops(c.s.git, i, part, c.join(verb))
	}
}

// join joins words in the Match's buffer; the text is good until the next join.
func (c *call) join(words []string) string {
	b := c.m.buf.text[:0]
	for i, word := range words {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, word...)
	}
	c.m.buf.text = b
	return view(b)
}
