package install

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// codex reads prefix rules: `*.rules` in rules/ and, of older builds,
// `*.codexpolicy` in policy/.
func (im *importer) codex() error {
	for _, source := range []struct{ folder, ending string }{{"rules", ".rules"}, {"policy", ".codexpolicy"}} {
		base := inFolder(im.scope, im.o, "CODEX_HOME", ".codex", ".codex", source.folder)
		files, err := folder(base, source.ending)
		if err != nil {
			return err
		}
		for _, f := range files {
			data, err := im.read(f)
			if err != nil {
				return err
			}
			calls, err := parseRules(string(data))
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.ToSlash(im.file), err)
			}
			for _, c := range calls {
				im.codexRule(c)
			}
		}
	}
	if len(im.report.Taken) > 0 {
		im.note("Codex' allow means: outside of its sandbox, without a question; lictor's allow never lets a command leave lictor's sandbox by itself")
	}
	return nil
}

// maxVariants bounds the rules that the alternatives of one pattern make.
const maxVariants = 64

func (im *importer) codexRule(c call) {
	if c.name != "prefix_rule" {
		im.left(c.text, "lictor reads prefix_rule only")
		return
	}
	effect, ok := map[string]model.Effect{
		"": model.EffectAllow, "allow": model.EffectAllow, "prompt": model.EffectAsk, "forbidden": model.EffectDeny,
	}[c.args["decision"].text]
	pattern, has := c.args["pattern"]
	if !ok || !has || pattern.list == nil || c.args["decision"].list != nil {
		im.left(c.text, "its pattern or decision is not what Codex' documentation says")
		return
	}
	variants := []string{""}
	for _, token := range pattern.list {
		choices := []string{token.text}
		if token.list != nil {
			choices = nil
			for _, t := range token.list {
				choices = append(choices, t.text)
			}
		}
		var next []string
		for _, v := range variants {
			for _, choice := range choices {
				if why := wordless(choice, effect); why != "" {
					im.left(c.text, why)
					return
				}
				next = append(next, strings.TrimPrefix(v+" "+choice, " "))
			}
		}
		if variants = next; len(variants) > maxVariants {
			im.left(c.text, "it has more than 64 alternatives: write a shorter rule by hand")
			return
		}
	}
	if len(variants) == 0 || variants[0] == "" {
		im.left(c.text, "its pattern is empty")
		return
	}
	var to []string
	for _, v := range variants {
		to = append(to, "Bash("+v+" *)")
	}
	why := ""
	if _, said := c.args["decision"]; !said {
		why = "it says no decision, which Codex reads as allow"
	}
	im.take(effect, c.text, why, to...)
}

// wordless says why a token cannot stand in a command pattern, or "".
func wordless(token string, effect model.Effect) string {
	switch {
	case token == "":
		return "an empty word cannot be written in lictor's patterns"
	case strings.ContainsAny(token, " \t\n'\"\\$`|&;<>(){}[]!#~"):
		return fmt.Sprintf("the word %q would be quoted in a command: write the rule by hand", token)
	case steers(token) && effect == model.EffectAllow:
		return fmt.Sprintf("%q would be a wildcard in lictor's patterns and allow more", token)
	}
	return ""
}
