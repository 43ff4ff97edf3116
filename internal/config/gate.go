package config

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Asker asks the user whether what a project loosens may apply. The answer
// "session" (and "always") pins the consent for this root, "once" applies it for
// now; everything else, and an error, leaves it out.
type Asker func(ctx context.Context, request ConsentRequest) (model.Answer, error)

// ConsentRequest is the question of the consent gate.
type ConsentRequest struct {
	// Root is the real path of the root.
	Root string
	// Risk is what the project's files loosen, Hash what a consent pins.
	Risk Risk
	Hash string
	// Changed names what is new since the last consent; nil if there was none.
	Changed []string
	// Preview is the question's text, several lines, safe to print.
	Preview string
}

// Applied is what is left of a project's files after the gate.
type Applied struct {
	// Settings are the settings that apply.
	Settings Settings
	// Rules are the rules of all sources that apply, in the order of the sources.
	// Deny and ask rules are always among them.
	Rules []model.Rule
	// Risk is what the project loosens, Hash its hash ("" if nothing).
	Risk Risk
	Hash string
	// Accepted says that the risk applies: it was pinned, or the user said yes, or
	// there is none. Pinned says that the consent is in the trust file.
	Accepted, Pinned bool
	// Notices say what was left out and why.
	Notices []Notice

	// project are the project's files, allowed their allow rules that apply, grounded
	// their ask rules that were refused to lift anything.
	project           map[string]bool
	allowed, grounded map[ruleAt]bool
}

// ruleAt is one rule in one file.
type ruleAt struct{ file, text string }

// Keep reports whether a rule counts that was read from the files again, after
// the gate: rules.Options.Keep. An allow rule of the project does only if the
// gate saw and accepted it, so that a file which changes meanwhile gains
// nothing.
func (a *Applied) Keep(rule model.Rule) bool {
	return rule.Effect != model.EffectAllow || !a.project[rule.Source] || a.allowed[ruleAt{rule.Source, rule.Text}]
}

// With returns a copy that also keeps the allow rule: the user has just answered
// that lictor shall write it.
func (a *Applied) With(rule model.Rule) *Applied {
	out := *a
	out.allowed = maps.Clone(a.allowed)
	out.allowed[ruleAt{rule.Source, rule.Text}] = true
	out.Rules = append(slices.Clone(a.Rules), rule)
	return &out
}

// Lifts reports whether the rule may lift the root guard (step 0b) by naming a
// path outside the root. An ask rule of the project that nobody consented to
// still asks, but lifts nothing.
func (a *Applied) Lifts(rule *model.Rule) bool {
	if rule == nil {
		return true
	}
	return a.Keep(*rule) && !a.grounded[ruleAt{rule.Source, rule.Text}]
}

// Gate applies of a project's files what the user consented to (SPEC section 7).
// What loosens nothing always applies: deny and ask rules, denyRead, switches of
// the host. The rest applies if the hash of all of it is pinned for this root,
// or the user says yes to options.Ask; else it is left out, with a notice for
// each file that names the keys. A broken trust file trusts nothing.
//
// An error comes only from the policy's evaluation or from the context; then
// nothing may run.
func Gate(ctx context.Context, loaded *Loaded, trust *Trust, o Options) (*Applied, error) {
	risk, err := AssessRisk(ctx, o.Rego, loaded)
	if err != nil {
		return nil, err
	}
	applied := &Applied{Risk: risk, Hash: risk.Hash(), project: map[string]bool{}, allowed: map[ruleAt]bool{}, grounded: map[ruleAt]bool{}}
	for _, source := range loaded.Sources {
		if source.Project {
			applied.project[source.File] = true
		}
	}
	if err := trust.Broken(); err != nil {
		applied.Notices = append(applied.Notices, Notice{trust.File(), "trusts nothing, because it is broken: " +
			causeOf(err) + ": repair it or move it away"})
	}
	if len(risk) == 0 {
		applied.accept(loaded)
		return applied, nil
	}
	pin, had := trust.Pin(loaded.Places.Root)
	if had && pin.Hash == applied.Hash {
		applied.accept(loaded)
		applied.Pinned = true
		return applied, nil
	}
	request := ConsentRequest{Root: realRoot(loaded.Places.Root), Risk: risk, Hash: applied.Hash}
	if had {
		request.Changed = risk.Changes(pin.Risk)
	}
	request.Preview = preview(request)
	answer, why, err := ask(ctx, o.Ask, request)
	if err != nil {
		return nil, err
	}
	if !answer.Allows() {
		applied.refuse(loaded, why, request.Changed)
		return applied, nil
	}
	applied.accept(loaded)
	if answer == model.AnswerOnce {
		return applied, nil
	}
	if err := trust.Accept(loaded.Places.Root, risk); err != nil {
		// The user said yes to this session, whether or not it can be remembered.
		applied.Notices = append(applied.Notices, Notice{trust.File(), "the consent could not be kept, so it will be asked for again: " + causeOf(err)})
		return applied, nil
	}
	applied.Pinned = true
	return applied, nil
}

// ask returns the answer, or why there is none. A context that has ended is an
// error: nothing was decided.
func ask(ctx context.Context, asker Asker, request ConsentRequest) (answer model.Answer, why string, err error) {
	if asker == nil {
		return model.AnswerDeny, "nobody could be asked", nil
	}
	answer, err = asker(ctx, request)
	if ended := ctx.Err(); ended != nil {
		return model.AnswerDeny, "", ended
	}
	if err != nil {
		return model.AnswerDeny, "the question failed: " + visible(err.Error()), nil
	}
	return answer, "you said no", nil
}

func (a *Applied) accept(loaded *Loaded) {
	a.Accepted = true
	a.Settings = loaded.Settings.Clone()
	for _, source := range loaded.Sources {
		a.Rules = append(a.Rules, source.Rules...)
		for _, rule := range source.Rules {
			if source.Project && rule.Effect == model.EffectAllow {
				a.allowed[ruleAt{rule.Source, rule.Text}] = true
			}
		}
	}
}

// refuse keeps what loosens nothing and says what it left out.
func (a *Applied) refuse(loaded *Loaded, why string, changed []string) {
	a.Settings = SafeSettings(loaded.Settings)
	for _, source := range loaded.Sources {
		for _, rule := range source.Rules {
			if source.Project && rule.Effect == model.EffectAllow {
				continue
			}
			a.Rules = append(a.Rules, rule)
			if source.Project && rule.Effect == model.EffectAsk && a.Risk.names(source.Display, rule) {
				a.grounded[ruleAt{rule.Source, rule.Text}] = true
			}
		}
	}
	suffix := " (" + why + "): run `lictor trust accept` in a terminal to accept it"
	if len(changed) > 0 {
		suffix = "; changed since you accepted it: " + strings.Join(changed, ", ") + suffix
	}
	for _, file := range a.Risk.files() {
		var items []string
		for _, item := range a.Risk {
			if item.File == file {
				items = append(items, cut(visible(item.String()), maxLine))
			}
		}
		name := filepath.Join(loaded.Places.Root, filepath.FromSlash(file))
		a.Notices = append(a.Notices, Notice{name, "not applied: " + strings.Join(items, ", ") + suffix})
	}
}

// names reports whether the risk of a file is about the ask rule. A value that
// is no list of texts is about every one.
func (r Risk) names(file string, rule model.Rule) bool {
	for _, item := range r {
		if item.File != file || item.Key != "permissions.ask" {
			continue
		}
		var texts []string
		if json.Unmarshal(item.Value, &texts) != nil {
			return true
		}
		for _, text := range texts {
			if strings.TrimSpace(text) == rule.Text {
				return true
			}
		}
	}
	return false
}

// files returns the files of the risk, each once, sorted.
func (r Risk) files() []string {
	var files []string
	for _, item := range r {
		files = append(files, item.File)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// causeOf is an error's text without the file in front of it.
func causeOf(err error) string {
	var file *FileError
	if errors.As(err, &file) {
		return file.Err.Error()
	}
	return err.Error()
}
