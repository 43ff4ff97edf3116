package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
)

// errNoRego is what a caller without a policy gets: nothing may run.
var errNoRego = errors.New("no policy engine was given")

// query asks the policy; an error says for what.
func query(ctx context.Context, rego Evaluator, name, what string, input, out any) error {
	if rego == nil {
		return fmt.Errorf("%s: %w", what, errNoRego)
	}
	if err := rego.Query(ctx, name, input, out); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// origin is one row of lictor.merge's origins: which layer set which value.
type origin struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Source string          `json:"source"`
}

// MergePolicy merges the layers in Rego (data.lictor.merge): the stricter value
// wins. No layers give nil. An error means that the policy is unknown, and
// nothing may run.
func MergePolicy(ctx context.Context, rego Evaluator, layers []PolicyLayer) (*Policy, error) {
	if len(layers) == 0 {
		return nil, nil
	}
	type layer struct {
		Source string          `json:"source"`
		Policy json.RawMessage `json:"policy"`
	}
	input := struct {
		Layers []layer `json:"layers"`
	}{}
	for _, l := range layers {
		input.Layers = append(input.Layers, layer{l.Origin, l.Text})
	}
	var result struct {
		Policy  json.RawMessage `json:"policy"`
		Origins []origin        `json:"origins"`
	}
	if err := query(ctx, rego, "merge", "merging the team policy", input, &result); err != nil {
		return nil, err
	}
	return decodePolicy(result.Policy, result.Origins)
}

// ApplyProfile applies the profiles of home and project to the merged policy in
// Rego (data.lictor.strict): any of them can turn the strict profile on, none
// can turn it off. The policy that it was given is not changed.
//
// Where there is neither a policy nor a profile, Rego is not asked.
func ApplyProfile(ctx context.Context, rego Evaluator, policy *Policy, profiles []ProfileSource) (*Policy, error) {
	if policy == nil && !slices.ContainsFunc(profiles, func(p ProfileSource) bool { return p.Profile != "" }) {
		return nil, nil
	}
	input := struct {
		Policy   json.RawMessage `json:"policy"`
		Profiles []string        `json:"profiles"`
	}{Policy: json.RawMessage("null"), Profiles: []string{}}
	if policy != nil {
		input.Policy = policy.Document
	}
	for _, profile := range profiles {
		input.Profiles = append(input.Profiles, profile.Profile)
	}
	var result struct {
		Policy json.RawMessage `json:"policy"`
		Strict bool            `json:"strict"`
	}
	if err := query(ctx, rego, "strict", "applying the profile", input, &result); err != nil {
		return nil, err
	}
	if !result.Strict {
		return policy, nil
	}
	var origins []origin
	if policy != nil {
		origins = policy.origins
	}
	applied, err := decodePolicy(result.Policy, origins)
	if err != nil {
		return nil, err
	}
	by := ""
	for _, profile := range profiles {
		if profile.Profile == ProfileStrict && by == "" {
			by = profile.File
		}
	}
	if policy != nil && policy.Profile == ProfileStrict {
		by = policy.Sources["profile"]
	}
	applied.Sources["profile"] = by
	if policy == nil || !policy.RequireSandbox {
		applied.Sources["requireSandbox"] = by
	}
	return applied, nil
}

// ProfileSource is a settings file that may turn the strict profile on.
type ProfileSource struct {
	File, Profile string
}

// mergedDocument is a merged policy as lictor.merge writes it.
type mergedDocument struct {
	Profile            string     `json:"profile"`
	DisallowedCommands []string   `json:"disallowedCommands"`
	DenyPaths          []string   `json:"denyPaths"`
	RequireSandbox     bool       `json:"requireSandbox"`
	AskFirst           bool       `json:"askFirst"`
	AllowedModels      [][]string `json:"allowedModels"`
	Limits             Limits     `json:"limits"`
	Network            struct {
		BlockedHosts    []string `json:"blockedHosts"`
		StrictAllowlist bool     `json:"strictAllowlist"`
	} `json:"network"`
	Audit struct {
		Enabled    bool   `json:"enabled"`
		Level      string `json:"level"`
		Checkpoint bool   `json:"checkpoint"`
		Observe    bool   `json:"observe"`
	} `json:"audit"`
	Paths struct {
		OutsideRoot string `json:"outsideRoot"`
	} `json:"paths"`
}

// decodePolicy turns a merged document and its origins into a Policy.
func decodePolicy(text json.RawMessage, origins []origin) (*Policy, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var doc mergedDocument
	if err := decodeClosed(text, &doc); err != nil {
		return nil, fmt.Errorf("the merged team policy: %w", err)
	}
	p := &Policy{
		Document: text, origins: origins, Sources: map[string]string{},
		Profile: doc.Profile, RequireSandbox: doc.RequireSandbox, AskFirst: doc.AskFirst,
		StrictAllowlist: doc.Network.StrictAllowlist, Limits: doc.Limits, OutsideRoot: doc.Paths.OutsideRoot,
		AuditEnabled: doc.Audit.Enabled, AuditLevel: doc.Audit.Level, AuditCheckpoint: doc.Audit.Checkpoint,
		Observe: doc.Audit.Observe,
	}
	sources := map[string]string{}
	for _, o := range origins {
		at := o.Key + "\x00" + compact(o.Value)
		if _, there := sources[at]; !there {
			sources[at] = o.Source
		}
		if _, there := p.Sources[o.Key]; !there {
			p.Sources[o.Key] = o.Source
		}
	}
	entries := func(key string, texts []string) []PolicyEntry {
		var out []PolicyEntry
		for _, text := range texts {
			value, _ := json.Marshal(text)
			out = append(out, PolicyEntry{text, sources[key+"\x00"+compact(value)]})
		}
		return out
	}
	p.DisallowedCommands = entries("disallowedCommands", doc.DisallowedCommands)
	p.DenyPaths = entries("denyPaths", doc.DenyPaths)
	p.BlockedHosts = entries("network.blockedHosts", doc.Network.BlockedHosts)
	for _, list := range doc.AllowedModels {
		value, _ := json.Marshal(list)
		p.AllowedModels = append(p.AllowedModels, ModelList{list, sources["allowedModels\x00"+compact(value)]})
	}
	return p, nil
}

// AssessRisk lists what the project loosens, in Rego (data.lictor.consent). It
// is an error if the list lacks something that SafeSettings would leave out: then
// policy and program do not belong together, and a consent would cover too little.
//
// A project without settings and rules has nothing to list, and Rego is not asked.
func AssessRisk(ctx context.Context, rego Evaluator, loaded *Loaded) (Risk, error) {
	if loaded.saysNothing() {
		return nil, nil
	}
	type permissionFile struct {
		Source      string              `json:"source"`
		Permissions map[string][]string `json:"permissions"`
	}
	input := struct {
		Source   string           `json:"source"`
		Settings any              `json:"settings"`
		Files    []permissionFile `json:"files"`
	}{Settings: map[string]any{}, Files: []permissionFile{}}
	for i, source := range loaded.Sources {
		switch {
		case i == 0:
			input.Source = source.Display
			if !isBlank(source.Text) {
				doc, err := parseJSON(source.Text)
				if err != nil {
					return nil, fileError(source.File, err)
				}
				input.Settings = withoutComments(doc.value)
			}
		case source.Project:
			lists := map[string][]string{}
			for _, effect := range []model.Effect{model.EffectAllow, model.EffectAsk, model.EffectDeny} {
				if texts := source.byEffect(effect); len(texts) > 0 {
					lists[string(effect)] = texts
				}
			}
			input.Files = append(input.Files, permissionFile{source.Display, lists})
		}
	}
	var result struct {
		Risks []struct {
			Key    string          `json:"key"`
			Value  json.RawMessage `json:"value"`
			Source string          `json:"source"`
		} `json:"risks"`
	}
	if err := query(ctx, rego, "consent", "listing what the project loosens", input, &result); err != nil {
		return nil, err
	}
	var risk Risk
	for _, r := range result.Risks {
		risk = append(risk, RiskItem{Key: r.Key, File: r.Source, Value: r.Value})
	}
	if len(loaded.Hosts) > 0 {
		hosts, err := json.Marshal(slices.Sorted(slices.Values(loaded.Hosts)))
		if err != nil {
			return nil, err
		}
		risk = append(risk, RiskItem{Key: "network.hosts", File: input.Source, Value: hosts})
	}
	risk = risk.sorted()
	for _, place := range loosened(loaded) {
		if !slices.ContainsFunc(risk, func(i RiskItem) bool { return i.Key == place.Key && i.File == place.File }) {
			return nil, fmt.Errorf("%s: the policy does not list %q as loosening, but it is: nothing runs", place.File, place.Key)
		}
	}
	return risk, nil
}

// saysNothing reports that the project has neither settings nor rules nor hosts.
func (l *Loaded) saysNothing() bool {
	for i, source := range l.Sources {
		if i == 0 && !isBlank(source.Text) || source.Project && len(source.Rules) > 0 {
			return false
		}
	}
	return len(l.Hosts) == 0 && len(loosened(l)) == 0
}
