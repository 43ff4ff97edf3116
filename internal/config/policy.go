package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/rules"
)

// PolicyLayer is one team policy document and where it comes from.
type PolicyLayer struct {
	// Origin is the file, or the name of the managed bundle.
	Origin string
	// Text is the document as it was read, validated by ParsePolicy.
	Text json.RawMessage
}

// PolicyDocument is a team policy document as it is written (SPEC section 5).
// Pointers are nil where the key is absent.
type PolicyDocument struct {
	Profile            string         `json:"profile,omitempty"`
	DisallowedCommands []string       `json:"disallowedCommands,omitempty"`
	DenyPaths          []string       `json:"denyPaths,omitempty"`
	Network            *PolicyNetwork `json:"network,omitempty"`
	RequireSandbox     *bool          `json:"requireSandbox,omitempty"`
	AskFirst           *bool          `json:"askFirst,omitempty"`
	Audit              *PolicyAudit   `json:"audit,omitempty"`
	AllowedModels      []string       `json:"allowedModels,omitempty"`
	Limits             *PolicyLimits  `json:"limits,omitempty"`
	Paths              *PolicyPaths   `json:"paths,omitempty"`
}

// PolicyNetwork is about hosts.
type PolicyNetwork struct {
	BlockedHosts    []string `json:"blockedHosts,omitempty"`
	StrictAllowlist *bool    `json:"strictAllowlist,omitempty"`
}

// PolicyAudit is about the record.
type PolicyAudit struct {
	Enabled    *bool  `json:"enabled,omitempty"`
	Level      string `json:"level,omitempty"`
	Checkpoint *bool  `json:"checkpoint,omitempty"`
	Observe    *bool  `json:"observe,omitempty"`
}

// PolicyLimits cap a session; 0 is no cap.
type PolicyLimits struct {
	MaxSteps    int `json:"maxSteps,omitempty"`
	TokenBudget int `json:"tokenBudget,omitempty"`
}

// PolicyPaths is about paths outside the root.
type PolicyPaths struct {
	OutsideRoot string `json:"outsideRoot,omitempty"`
}

// ParsePolicy reads a team policy document strictly; file is its name in errors.
// Blank text is an empty policy. It is an error, which names file, line and key,
// if the text is not what schemas/policy.json describes, or if a command, path
// or host pattern is invalid: a policy that could not be enforced in full is not
// enforced in part.
func ParsePolicy(file string, text []byte) (PolicyDocument, error) {
	var policy PolicyDocument
	doc, err := decodeStrict(file, text, policyChecker, &policy)
	if err != nil {
		return PolicyDocument{}, err
	}
	fault := func(line []string, err error) error {
		return &FileError{File: file, Line: doc.lineOf(line), Err: err}
	}
	for i, pattern := range policy.DisallowedCommands {
		if strings.TrimSpace(pattern) == "" {
			return PolicyDocument{}, fault([]string{"disallowedCommands", fmt.Sprint(i)}, fmt.Errorf("disallowedCommands: a pattern is blank"))
		}
		if _, err := rules.NewCommandList([]string{pattern}); err != nil {
			return PolicyDocument{}, fault([]string{"disallowedCommands", fmt.Sprint(i)}, fmt.Errorf("disallowedCommands: %w", err))
		}
	}
	for i, pattern := range policy.DenyPaths {
		if _, err := rules.NewPathList([]string{pattern}, rules.Env{Root: "/", RealRoot: "/", Home: "/home"}); err != nil {
			return PolicyDocument{}, fault([]string{"denyPaths", fmt.Sprint(i)}, fmt.Errorf("denyPaths: %w", err))
		}
	}
	if policy.Network != nil {
		for i, host := range policy.Network.BlockedHosts {
			if _, err := hostPattern(host, "network.blockedHosts"); err != nil {
				return PolicyDocument{}, fault([]string{"network", "blockedHosts", fmt.Sprint(i)}, err)
			}
		}
	}
	return policy, nil
}

// ReadPolicyLayers reads the team policy's files, managed first, then the home
// folder's, then the bundles' documents in the order given. Missing files are
// no layer. A broken file, an unknown key, or a managed file that others could
// have written is an error that names the file. The project's own policy file
// is never read; it only earns a notice.
func ReadPolicyLayers(p Places, bundles []PolicyLayer) ([]PolicyLayer, []Notice, error) {
	var layers []PolicyLayer
	add := func(file string, text []byte) error {
		if _, err := ParsePolicy(file, text); err != nil {
			return err
		}
		if !isBlank(text) {
			layers = append(layers, PolicyLayer{Origin: file, Text: text})
		}
		return nil
	}
	managed, err := ReadManagedFile(p.ManagedPolicy, p.ManagedOverridden, p.ManagedOverridden)
	if err != nil {
		return nil, nil, err
	}
	if err := add(p.ManagedPolicy, managed); err != nil {
		return nil, nil, err
	}
	home, err := ReadUserFile(p.HomePolicy)
	if err != nil {
		return nil, nil, err
	}
	if err := add(p.HomePolicy, home); err != nil {
		return nil, nil, err
	}
	for _, bundle := range bundles {
		if err := add(bundle.Origin, bundle.Text); err != nil {
			return nil, nil, err
		}
	}
	return layers, projectPolicyNotice(p), nil
}

// projectPolicyNotice tells the author of a project's policy file that it does
// nothing.
func projectPolicyNotice(p Places) []Notice {
	if !existsBelow(p.Root, FolderName+"/policy.json") {
		return nil
	}
	return []Notice{{
		File: p.ProjectPolicy,
		Text: "is not read: a project cannot set the team policy; it belongs in " + p.ManagedPolicy + " or " + p.HomePolicy,
	}}
}
