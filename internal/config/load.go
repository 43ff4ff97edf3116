package config

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
)

// Notice is something that the user should know about a file: it never stops
// anything.
type Notice struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// String returns "FILE: TEXT".
func (n Notice) String() string { return n.File + ": " + n.Text }

// Evaluator asks the Rego policy for one of its documents by name
// ("merge", "strict", "consent") and decodes the answer strictly into out; it is
// implemented by eval.Engine.
type Evaluator interface {
	Query(ctx context.Context, name string, input, out any) error
}

// Options of Load. Only Rego is needed.
type Options struct {
	// Rego evaluates lictor.merge, lictor.strict and lictor.consent.
	Rego Evaluator
	// Bundles are the policy documents of the managed bundles, in order.
	Bundles []PolicyLayer
	// Trust holds the user's consents; nil opens Places.Trust.
	Trust *Trust
	// Ask asks the user for consent; nil means that nobody can answer.
	Ask Asker
	// Hosts resolves the entries of network.allow to the hosts that they stand for
	// on this machine (SPEC section 9). If given, the hosts are shown and pinned
	// with the rest, so every caller that reads the same project must give it.
	Hosts func(ctx context.Context, allow []string) ([]string, error)
}

// Loaded is everything that the files say, as they say it: nothing is gated
// yet. It never changes.
type Loaded struct {
	Places Places
	// Settings are the project's, defaults filled in.
	Settings Settings
	// Hosts are what network.allow stands for, as Options.Hosts resolved it.
	Hosts []string
	// HasSettings says that there is a settings file with something in it.
	HasSettings bool
	// Sources are the five sources of rules in the order of SPEC section 4, the
	// settings first.
	Sources []RuleSource
	// Layers are the team policy's documents, Policy is their merge with the
	// profile of home and project applied; nil if nobody sets any.
	Layers []PolicyLayer
	Policy *Policy
	// Strict says that the strict profile is on, StrictBy which file turned it on.
	Strict   bool
	StrictBy string
	// Notices are about files; Gate adds its own.
	Notices []Notice
}

// Config is what applies: the files' content after the user's consent.
type Config struct {
	*Loaded
	Applied
	// AskFirst and OutsideRoot are the settings' under the team policy.
	AskFirst    bool
	OutsideRoot string
	// Limits are the settings' under the team policy's caps.
	Limits EffectiveLimits
}

// Load reads every file, merges the team policy, asks for the user's consent
// where the project would loosen something, and returns what applies. Any file
// that cannot be read as it should be is an error that names it, and then
// nothing runs. The strict profile with `executor: "host"` is a *StrictError.
func Load(ctx context.Context, p Places, o Options) (*Config, error) {
	loaded, err := Read(ctx, p, o)
	if err != nil {
		return nil, err
	}
	trust := o.Trust
	if trust == nil {
		trust = OpenTrust(p.Trust)
	}
	applied, err := Gate(ctx, loaded, trust, o)
	if err != nil {
		return nil, err
	}
	return combine(loaded, applied), nil
}

// Read is the first half of Load: it reads and merges, and gates nothing.
func Read(ctx context.Context, p Places, o Options) (*Loaded, error) {
	text, err := readSettingsFile(p)
	if err != nil {
		return nil, err
	}
	loaded := &Loaded{Places: p, HasSettings: !isBlank(text)}
	if loaded.Settings, err = ParseSettings(p.Settings, text); err != nil {
		return nil, err
	}
	if network := loaded.Settings.Network; network != nil && o.Hosts != nil {
		if loaded.Hosts, err = o.Hosts(ctx, slices.Clone(network.Allow)); err != nil {
			return nil, &FileError{File: p.Settings, Err: fmt.Errorf("network.allow: %w", err)}
		}
	}
	own := RuleSource{File: p.Settings, Display: FolderName + "/settings.json", Project: true, Text: text}
	if own.Rules, err = loaded.Settings.Rules(p.Settings); err != nil {
		return nil, err
	}
	sources, err := ReadRuleSources(p)
	if err != nil {
		return nil, err
	}
	loaded.Sources = append([]RuleSource{own}, sources...)
	if loaded.Layers, loaded.Notices, err = ReadPolicyLayers(p, o.Bundles); err != nil {
		return nil, err
	}
	for _, source := range sources {
		loaded.Notices = append(loaded.Notices, misplacedLists(source)...)
	}
	homeProfile, err := readHomeProfile(p)
	if err != nil {
		return nil, err
	}
	if loaded.Policy, err = MergePolicy(ctx, o.Rego, loaded.Layers); err != nil {
		return nil, err
	}
	profiles := []ProfileSource{{p.HomeSettings, homeProfile}, {p.Settings, loaded.Settings.Profile}}
	if loaded.Policy, err = ApplyProfile(ctx, o.Rego, loaded.Policy, profiles); err != nil {
		return nil, err
	}
	if loaded.Policy != nil && loaded.Policy.Profile == ProfileStrict {
		loaded.Strict, loaded.StrictBy = true, loaded.Policy.Sources["profile"]
	}
	if loaded.Strict && loaded.Settings.Executor == "host" {
		return nil, &StrictError{
			File: p.Settings, By: loaded.StrictBy,
			Reason: `says that "executor" is "host", which the strict profile forbids`,
			Fix:    `remove "executor" from the settings, or set it to "os"`,
		}
	}
	return loaded, nil
}

// readSettingsFile reads the project's settings, or the file in place of them,
// which must be there.
func readSettingsFile(p Places) ([]byte, error) {
	if !p.SettingsOverridden {
		return ReadProjectFile(p.Root, FolderName+"/settings.json")
	}
	text, err := ReadUserFile(p.Settings)
	if err == nil && text == nil {
		err = &FileError{File: p.Settings, Err: fs.ErrNotExist}
	}
	return text, err
}

// readHomeProfile reads the only key that the home folder's settings file may
// have besides comments: the profile. Everything else is the project's.
func readHomeProfile(p Places) (string, error) {
	text, err := ReadUserFile(p.HomeSettings)
	if err != nil {
		return "", err
	}
	if _, err := ParseSettings(p.HomeSettings, text); err != nil {
		return "", err
	}
	if isBlank(text) {
		return "", nil
	}
	doc, err := parseJSON(text)
	if err != nil {
		return "", fileError(p.HomeSettings, err)
	}
	keys, _ := doc.value.(map[string]any)
	for key := range keys {
		if key != "profile" && key != "$schema" && key != commentKey {
			return "", &FileError{File: p.HomeSettings, Line: doc.lineOf([]string{key}), Err: fmt.Errorf(
				"key %q is not read from the home folder, only \"profile\" is: put it into a project's %s/settings.json", key, FolderName)}
		}
	}
	profile, _ := keys["profile"].(string)
	return profile, nil
}

// combine puts the team policy over the settings that apply.
func combine(loaded *Loaded, applied *Applied) *Config {
	config := &Config{
		Loaded: loaded, Applied: *applied,
		AskFirst:    applied.Settings.AskFirst,
		OutsideRoot: applied.Settings.Paths.OutsideRoot,
		Limits:      CapLimits(applied.Settings, loaded.Policy),
	}
	config.Applied.Notices = append(append([]Notice{}, loaded.Notices...), applied.Notices...)
	if policy := loaded.Policy; policy != nil {
		config.AskFirst = config.AskFirst || policy.AskFirst
		if policy.OutsideRoot == OutsideDeny {
			config.OutsideRoot = OutsideDeny
		}
	}
	return config
}

// StrictError says that the strict profile cannot be kept.
type StrictError struct {
	// File is the file that stands against it, By the file that turned it on.
	File, By string
	// Reason and Fix are what is wrong and what to do.
	Reason, Fix string
}

// Error names the file, the reason, who turned the profile on, and the fix.
func (e *StrictError) Error() string {
	by := ""
	if e.By != "" && e.By != e.File {
		by = " (turned on by " + e.By + ")"
	}
	return fmt.Sprintf("%s %s%s: %s", e.File, e.Reason, by, e.Fix)
}

// Shell returns the shell that the settings name, or "" if they name none.
func (c *Config) Shell() model.Shell { return c.Applied.Settings.Shell }
