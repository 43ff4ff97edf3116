package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/rules"
)

// Defaults of the settings (SPEC sections 5 and 7).
const (
	DefaultExecutor    = "auto"
	ProfileDefault     = "default"
	ProfileStrict      = "strict"
	OutsideDeny        = "deny"
	OutsideAsk         = "ask"
	DefaultHelperSteps = 20
	DefaultHelperToken = 150_000
)

// DefaultSettings returns the settings of a project without a settings file.
func DefaultSettings() Settings {
	return Settings{
		Executor:  DefaultExecutor,
		Profile:   ProfileDefault,
		Paths:     PathSettings{OutsideRoot: OutsideDeny},
		Subagents: HelperSettings{MaxSteps: DefaultHelperSteps, TokenBudget: DefaultHelperToken},
		MoE:       HelperSettings{MaxSteps: DefaultHelperSteps, TokenBudget: DefaultHelperToken},
	}
}

// ReadSettings reads the project's settings file. A missing or blank file gives
// the defaults. Errors are *FileError.
func ReadSettings(p Places) (Settings, error) {
	text, err := ReadProjectFile(p.Root, FolderName+"/settings.json")
	if err != nil {
		return Settings{}, err
	}
	return ParseSettings(p.Settings, text)
}

// ParseSettings reads the text of a settings file; file is its name in errors.
// Blank text gives the defaults. It is an error, which names file, line and key,
// if the text is not exactly what schemas/settings.json describes, if a rule
// cannot be parsed, or if network.allow holds what is neither a preset nor a
// host pattern.
func ParseSettings(file string, text []byte) (Settings, error) {
	settings := DefaultSettings()
	doc, err := decodeStrict(file, text, settingsChecker, &settings)
	if err != nil {
		return Settings{}, err
	}
	fault := func(path []string, err error) error {
		return &FileError{File: file, Line: doc.lineOf(path), Err: err}
	}
	for effect, texts := range settings.Permissions.byEffect() {
		for i, text := range texts {
			if _, err := rules.Parse(text, model.SyntaxSettings, effect, file); err != nil {
				return Settings{}, fault([]string{"permissions", string(effect), fmt.Sprint(i)}, bare(err, file))
			}
		}
	}
	for i, text := range settings.Sandbox.WritePaths {
		if err := checkPath(text); err != nil {
			return Settings{}, fault([]string{"sandbox", "writePaths", fmt.Sprint(i)}, err)
		}
	}
	for i, text := range settings.Sandbox.DenyRead {
		if err := checkPath(text); err != nil {
			return Settings{}, fault([]string{"sandbox", "denyRead", fmt.Sprint(i)}, err)
		}
	}
	if settings.Network, err = normalNetwork(settings.Network, fault); err != nil {
		return Settings{}, err
	}
	if string(settings.Tools) == "{}" {
		settings.Tools = nil
	}
	return settings, nil
}

// byEffect yields the lists in a fixed order.
func (p Permissions) byEffect() func(func(model.Effect, []string) bool) {
	return func(yield func(model.Effect, []string) bool) {
		_ = yield(model.EffectDeny, p.Deny) && yield(model.EffectAsk, p.Ask) && yield(model.EffectAllow, p.Allow)
	}
}

// Rules returns the parsed rules of the settings, each with file as its source.
// The texts were checked when the settings were read.
func (s *Settings) Rules(file string) ([]model.Rule, error) {
	var out []model.Rule
	for effect, texts := range s.Permissions.byEffect() {
		for _, text := range texts {
			rule, err := rules.Parse(text, model.SyntaxSettings, effect, file)
			if err != nil {
				return nil, &FileError{File: file, Err: bare(err, file)}
			}
			out = append(out, rule)
		}
	}
	return out, nil
}

// bare takes the file's name off an error that already starts with it.
func bare(err error, file string) error {
	if text, ok := strings.CutPrefix(err.Error(), file+": "); ok {
		return fmt.Errorf("%s", text)
	}
	return err
}

// checkPath refuses what no path can be.
func checkPath(text string) error {
	if strings.ContainsRune(text, 0) {
		return fmt.Errorf("path %q holds a NUL character", short(text))
	}
	if strings.HasPrefix(text, "~") && text != "~" && !strings.HasPrefix(text, "~/") && !strings.HasPrefix(text, `~\`) {
		return fmt.Errorf("path %q: only your own home folder can be written as ~/", short(text))
	}
	return nil
}

// Presets are the names that network.allow knows besides hosts (SPEC section 9).
var Presets = []string{"cargo", "github", "go", "maven", "npm", "pypi"}

// normalNetwork lower-cases the entries and turns an empty list into nil.
func normalNetwork(n *NetworkSettings, fault func([]string, error) error) (*NetworkSettings, error) {
	if n == nil || len(n.Allow) == 0 {
		return nil, nil
	}
	out := &NetworkSettings{}
	for i, text := range n.Allow {
		entry, err := networkEntry(text)
		if err != nil {
			return nil, fault([]string{"network", "allow", fmt.Sprint(i)}, err)
		}
		if !slices.Contains(out.Allow, entry) {
			out.Allow = append(out.Allow, entry)
		}
	}
	return out, nil
}

// networkEntry checks one entry of network.allow, a preset or a host pattern, and
// returns it in normal form. A name without a dot is taken for a misspelt
// preset; an address is none, since the proxy refuses addresses.
func networkEntry(text string) (string, error) {
	entry := strings.ToLower(strings.TrimSpace(text))
	if slices.Contains(Presets, entry) {
		return entry, nil
	}
	pattern, err := hostPattern(text, "network.allow")
	if err != nil {
		return "", fmt.Errorf("%w%s", err, rules.Suggest(entry, Presets))
	}
	name := pattern.Exact()
	if name == "" {
		return "*" + pattern.Suffix(), nil
	}
	if host, err := netguard.NormalizeHost(name); err != nil || host.IP != "" {
		return "", fmt.Errorf("network.allow: %q is an address: only host names are allowed", short(text))
	}
	if !strings.Contains(name, ".") && name != "localhost" {
		return "", fmt.Errorf("network.allow: %q is neither a preset (%s) nor a host with a dot%s",
			short(text), strings.Join(Presets, ", "), rules.Suggest(entry, Presets))
	}
	return name, nil
}

// hostPattern reads a host pattern that must be able to match something.
func hostPattern(text, where string) (netguard.HostPattern, error) {
	pattern, err := netguard.ParsePattern(text, where)
	if err != nil {
		return pattern, err
	}
	if pattern.Never() {
		return pattern, fmt.Errorf("%s: %q matches nothing: name a host, or *.example.com for its subdomains", where, short(text))
	}
	return pattern, nil
}

// Clone returns a deep copy, so that a caller can change one without the other.
func (s Settings) Clone() Settings {
	s.Sandbox.WritePaths = slices.Clone(s.Sandbox.WritePaths)
	s.Sandbox.DenyRead = slices.Clone(s.Sandbox.DenyRead)
	s.Permissions.Allow = slices.Clone(s.Permissions.Allow)
	s.Permissions.Ask = slices.Clone(s.Permissions.Ask)
	s.Permissions.Deny = slices.Clone(s.Permissions.Deny)
	s.Env.Allow = slices.Clone(s.Env.Allow)
	if s.Network != nil {
		network := *s.Network
		network.Allow = slices.Clone(network.Allow)
		s.Network = &network
	}
	s.Formatters.Commands = maps.Clone(s.Formatters.Commands)
	s.Tools = slices.Clone(s.Tools)
	return s
}

// JSON returns the settings as they apply, defaults filled in.
func (s Settings) JSON() ([]byte, error) { return json.Marshal(s) }
