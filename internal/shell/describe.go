package shell

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Describe says, one sentence for each reason of c, why the command could not be
// fully understood; with the program that it is about where that is known. It
// returns nil for a command that is not opaque.
func Describe(c *model.Command) []string {
	var out []string
	for _, code := range c.Reasons {
		out = append(out, describe(c, code))
	}
	return out
}

func describe(c *model.Command, code string) string {
	switch reasonByCode[code] {
	case rShellStdin, rInterpStdin, rDeferredStdin, rParallelStdin:
		for i := range c.Parts {
			name := runnerOf(&c.Parts[i], reasonByCode[code])
			if name == "" {
				continue
			}
			if i > 0 && c.Parts[i-1].Program != "" && strings.Contains(c.Source, "|") {
				return name + " runs whatever " + baseName(c.Parts[i-1].Program) + " prints"
			}
			return name + " runs whatever it reads from its input"
		}
	case rCmdName:
		for i := range c.Parts {
			p := &c.Parts[i]
			if p.Program == "" && len(p.Assignments) == 0 && p.Text != "" {
				return "the program in " + short(p.Text) + " is only known when it runs"
			}
		}
	case rArgInject:
		for i := range c.Parts {
			if p := lookup(baseName(c.Parts[i].Program)); p != nil && p.inject {
				return "an unquoted expansion may add an option to " + baseName(c.Parts[i].Program) + " that runs commands"
			}
		}
	case rShellCDynamic:
		for i := range c.Parts {
			if p := lookup(baseName(c.Parts[i].Program)); p != nil && p.do == doShell {
				return "the script given to " + baseName(c.Parts[i].Program) + " is only known when it runs"
			}
		}
	}
	return Explain(code)
}

// runnerOf names the program of a part, or of what it runs, that reads commands.
func runnerOf(p *model.Part, why reason) string {
	is := func(program string) bool {
		known := lookup(baseName(program))
		if known == nil {
			return false
		}
		switch why {
		case rShellStdin:
			return known.do == doShell || known.do == doForeignShell || known.do == doSu || known.wrap != nil && known.wrap.bare
		case rInterpStdin:
			return known.do == doInterp
		case rDeferredStdin:
			return known.do == doDeferred
		}
		return known.do == doParallel
	}
	for i := len(p.Inner) - 1; i >= 0; i-- {
		if is(p.Inner[i].Program) {
			return baseName(p.Inner[i].Program)
		}
	}
	if is(p.Program) {
		return baseName(p.Program)
	}
	return ""
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
