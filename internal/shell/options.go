package shell

import (
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// A deny pattern with options in it means what the options do, not how they are
// spelled: `rm -rf*` is about `rm -fr x`, `rm -r -f x` and `rm x -rf`. Patterns
// and commands are read the same way, with the table of the program.

// OptionPattern is a deny or ask pattern, read as options and operands.
type OptionPattern struct {
	program string
	subs    []string
	spec    *optionSpec
	opts    []string
	// operands come first in the command's operands; the last may be open
	// ("HEAD*"). Without any, every operand will do.
	operands []string
	open     bool
}

// OptionMatch reads a deny or ask pattern such as `rm -rf*` or
// `git push --force*`. It returns false if the pattern is not a program of the
// table with options, and is then to be matched as text only.
func OptionMatch(pattern string) (*OptionPattern, bool) {
	text, star := strings.CutSuffix(strings.TrimSpace(pattern), "*")
	fields := strings.Fields(text)
	if len(fields) < 2 || strings.ContainsAny(fields[0], "*?") {
		return nil, false
	}
	p := &OptionPattern{program: baseName(fields[0])}
	p.spec = optionSpecs[p.program]
	if p.spec == nil {
		return nil, false
	}
	rest := fields[1:]
	words := make([]string, 0, len(rest))
	for _, f := range rest {
		// `git push *--force*`: options anywhere.
		f = strings.TrimLeft(f, "*")
		if f == "" {
			continue
		}
		if strings.ContainsAny(f, "*?") && strings.HasPrefix(f, "-") {
			return nil, false
		}
		words = append(words, f)
	}
	set, operands := p.spec.read(p.program, words)
	if set == nil {
		return nil, false
	}
	if set.unknown {
		return nil, false
	}
	p.subs, p.opts = set.subs, set.names
	if len(p.opts) == 0 {
		return nil, false
	}
	p.operands = operands
	p.open = star && !strings.HasSuffix(text, " ") && len(operands) > 0
	for _, o := range operands[:max(0, len(operands)-1)] {
		if strings.ContainsAny(o, "*?") {
			return nil, false
		}
	}
	if n := len(operands); n > 0 && strings.ContainsAny(operands[n-1], "*?") {
		return nil, false
	}
	return p, true
}

// Covers reports whether the words of a command, program first, do what the
// pattern says: the same program and subcommand, all of its options in any
// spelling and order, and operands that start as the pattern's do. A word that
// is an unquoted expansion, stands where options go and has something behind it
// counts as any option. Words are values where they are known and source text
// where they are not.
func (p *OptionPattern) Covers(words []string) bool {
	if len(words) < 2 || baseName(words[0]) != p.program {
		return false
	}
	set, operands := p.spec.read(p.program, words[1:])
	if set == nil || !slices.Equal(set.subs, p.subs) {
		return false
	}
	if !set.any {
		for _, o := range p.opts {
			if !slices.Contains(set.names, o) {
				return false
			}
		}
	}
	if len(operands) < len(p.operands) {
		return false
	}
	for i, o := range p.operands {
		if operands[i] != o && !(p.open && i == len(p.operands)-1 && strings.HasPrefix(operands[i], o)) {
			return false
		}
	}
	return true
}

// CoversCommand reports the first part of the command that the pattern covers,
// by itself or through something that it runs, and the spelling that matched.
func (p *OptionPattern) CoversCommand(c *model.Command) (part int, form string, ok bool) {
	for i := range c.Parts {
		q := &c.Parts[i]
		if p.covers(q.Program, q.Args) {
			return i, q.Canonical, true
		}
		for k := range q.Inner {
			if s := &q.Inner[k]; p.covers(s.Program, s.Args) {
				return i, s.Canonical, true
			}
		}
	}
	for _, s := range c.Naive {
		if strings.HasPrefix(s, p.program) && p.Covers(strings.Fields(s)) {
			return -1, s, true
		}
	}
	return -1, "", false
}

func (p *OptionPattern) covers(program string, args []string) bool {
	if program == "" || baseName(program) != p.program || len(args) == 0 {
		return false
	}
	return p.Covers(append([]string{program}, args...))
}

// optionSpec is how a program reads its words.
type optionSpec struct {
	// short are pairs of a letter and the option it means: "r=recursive".
	short map[byte]string
	// arg, longArg are the options that take an argument.
	arg, longArg string
	// long are the long options without one; names for themselves, or
	// "name=option" if they mean another one.
	long map[string]string
	// subs: the first operand is a subcommand; then the options of subSpecs hold.
	subs bool
	// operand says which option an operand means ("+main" forces a push).
	operand func(i int, s string) string
}

// optionSet is what the words of a command say.
type optionSet struct {
	subs    []string
	names   []string
	any     bool
	unknown bool
}

// read reads words as getopt_long does. It returns nil for a program with
// subcommands if there is none.
func (s *optionSpec) read(program string, words []string) (*optionSet, []string) {
	set := &optionSet{}
	if s.subs {
		at := s.subcommand(words)
		if at < 0 {
			return nil, nil
		}
		set.subs = words[at : at+1]
		sub := optionSpecs[program+" "+words[at]]
		if sub == nil {
			sub = &optionSpec{}
		}
		operands := sub.words(words[at+1:], set)
		return set, operands
	}
	return set, s.words(words, set)
}

// subcommand is the index of the first word that is no option of the program.
func (s *optionSpec) subcommand(words []string) int {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case len(w) < 2 || w[0] != '-':
			return i
		case w[1] == '-':
			if name, _, has := strings.Cut(w[2:], "="); !has && inList(s.longArg, name) {
				i++
			}
		case len(w) == 2 && strings.IndexByte(s.arg, w[1]) >= 0:
			i++
		}
	}
	return -1
}

func (s *optionSpec) words(words []string, set *optionSet) []string {
	var operands []string
	rest := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case rest || len(w) < 2 || w[0] != '-':
			if !rest && len(operands) == 0 && i+1 < len(words) && dynamicWord(w) {
				set.any = true
			}
			if s.operand != nil {
				if name := s.operand(len(operands), w); name != "" {
					set.names = append(set.names, name)
				}
			}
			operands = append(operands, w)
		case w == "--":
			rest = true
		case w[1] == '-':
			name, _, has := strings.Cut(w[2:], "=")
			if !s.longOption(name, set) && !has && inList(s.longArg, name) {
				i++
			}
		default:
			for k := 1; k < len(w); k++ {
				c := w[k]
				if strings.IndexByte(s.arg, c) >= 0 {
					if name := s.short[c]; name != "" {
						set.names = append(set.names, name)
					} else {
						set.names = append(set.names, shortName(c))
					}
					if k == len(w)-1 {
						i++
					}
					break
				}
				if name := s.short[c]; name != "" {
					set.names = append(set.names, name)
				} else {
					set.names = append(set.names, shortName(c))
				}
			}
		}
	}
	return operands
}

// longOption adds the long option that name is or abbreviates; an ambiguous
// abbreviation counts as all of them.
func (s *optionSpec) longOption(name string, set *optionSet) bool {
	if to, ok := s.long[name]; ok {
		set.names = append(set.names, to)
		return true
	}
	found := false
	if name != "" {
		for long, to := range s.long {
			if strings.HasPrefix(long, name) {
				set.names = append(set.names, to)
				found = true
			}
		}
	}
	if !found {
		set.names = append(set.names, "--"+name)
	}
	return found
}

// dynamicWord reports source text that starts with an unquoted expansion.
func dynamicWord(w string) bool {
	return len(w) > 1 && (w[0] == '$' || w[0] == '`')
}
