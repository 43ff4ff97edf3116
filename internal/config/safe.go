package config

import (
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
)

// SafeSettings returns a copy without everything that a project may only do with
// consent: the defaults take its place.
func SafeSettings(s Settings) Settings {
	safe := s.Clone()
	if safe.Executor == "host" || safe.Executor == "landlock" {
		safe.Executor = DefaultExecutor
	}
	safe.Permissions.Allow = nil
	safe.Sandbox.WritePaths = nil
	safe.Env.Allow = nil
	safe.Network = nil
	safe.Web.AllowLocalhost = false
	safe.Paths.OutsideRoot = OutsideDeny
	safe.Tools = nil
	safe.Shell = model.ShellUnknown
	for name, formatter := range safe.Formatters.Commands {
		if !formatter.Off {
			delete(safe.Formatters.Commands, name)
		}
	}
	return safe
}

// loosened names what SafeSettings and the gate would leave out, by key and file
// as the risk does.
func loosened(loaded *Loaded) []RiskItem {
	s, safe := loaded.Settings, SafeSettings(loaded.Settings)
	var out []RiskItem
	for _, row := range []struct {
		key   string
		loose bool
	}{
		{"executor", s.Executor != safe.Executor},
		{"sandbox.writePaths", len(s.Sandbox.WritePaths) > 0},
		{"env.allow", len(s.Env.Allow) > 0},
		{"network.allow", s.Network != nil},
		{"web.allowLocalhost", s.Web.AllowLocalhost},
		{"formatters.commands", len(s.Formatters.Commands) != len(safe.Formatters.Commands)},
		{"paths.outsideRoot", s.Paths.OutsideRoot != safe.Paths.OutsideRoot},
		{"tools", len(s.Tools) > 0},
		{"shell", s.Shell != safe.Shell},
	} {
		if row.loose {
			out = append(out, RiskItem{Key: row.key, File: loaded.Sources[0].Display})
		}
	}
	for _, source := range loaded.Sources {
		isAllow := func(rule model.Rule) bool { return rule.Effect == model.EffectAllow }
		if source.Project && slices.ContainsFunc(source.Rules, isAllow) {
			out = append(out, RiskItem{Key: "permissions.allow", File: source.Display})
		}
	}
	return out
}
