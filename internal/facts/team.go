package facts

import (
	"fmt"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/rules"
)

// Entry is one entry of a list of the team policy and the file that it stands in.
type Entry struct{ Text, Source string }

// TeamRules is the part of the merged team policy that step 0 looks at.
type TeamRules struct {
	DisallowedCommands, DenyPaths, BlockedHosts []Entry
	// RequireSandbox and StrictAllowlist name the file that set them; empty means
	// that they are off.
	RequireSandbox, StrictAllowlist string
}

// Team is the compiled team policy.
type Team struct {
	rules    TeamRules
	commands *rules.CommandList
	paths    *rules.PathList
	blocked  []netguard.HostPattern
	allowed  allowedHosts
}

// policyHit is one violation of the team policy.
type policyHit struct {
	// key is the policy's key, entry what it says there, what the text that hit.
	key   string
	entry Entry
	what  string
	path  *pathHit
}

// CompileTeam compiles the team policy. A pattern that is invalid is an error
// that names the file and the key. allow are the rules that apply: those for
// hosts are what strictAllowlist lets through.
func CompileTeam(t TeamRules, allow []model.Rule, env rules.Env) (*Team, error) {
	team := &Team{rules: t, allowed: compileAllowedHosts(allow, env)}
	for _, list := range []struct {
		key     string
		entries []Entry
		check   func(pattern string) error
	}{
		{"disallowedCommands", t.DisallowedCommands, func(p string) error { _, err := rules.NewCommandList([]string{p}); return err }},
		{"denyPaths", t.DenyPaths, func(p string) error { _, err := rules.NewPathList([]string{p}, env); return err }},
		{"network.blockedHosts", t.BlockedHosts, func(p string) error { _, err := netguard.ParsePattern(p, "network.blockedHosts"); return err }},
	} {
		for _, e := range list.entries {
			if err := list.check(e.Text); err != nil {
				return nil, fmt.Errorf("%s: %s: %q: %w", e.Source, list.key, e.Text, err)
			}
		}
	}
	var err error
	if team.commands, err = rules.NewCommandList(texts(t.DisallowedCommands)); err != nil {
		return nil, err
	}
	if team.paths, err = rules.NewPathList(texts(t.DenyPaths), env); err != nil {
		return nil, err
	}
	for _, e := range t.BlockedHosts {
		p, err := netguard.ParsePattern(e.Text, "network.blockedHosts")
		if err != nil {
			return nil, err
		}
		team.blocked = append(team.blocked, p)
	}
	return team, nil
}

// check looks for a violation, in the order of SPEC section 5: commands, paths,
// hosts.
func (t *Team) check(x *Context, c *Call) *policyHit {
	for i := range c.Input.Targets {
		if target := &c.Input.Targets[i]; target.Kind == model.KindCommand {
			if hit := t.checkCommand(x, target); hit != nil {
				return hit
			}
		}
	}
	if len(t.rules.DenyPaths) > 0 {
		for i := range c.Input.Targets {
			if hit := t.checkPaths(&c.Input.Targets[i]); hit != nil {
				return hit
			}
		}
	}
	if c.git != nil {
		// The git tool is no command of lictor's to confine, but its words count.
		if pattern, matched, ok := t.commands.Match(c.git.Command); ok {
			return &policyHit{key: "disallowedCommands", entry: find(t.rules.DisallowedCommands, pattern), what: matched}
		}
		if hit := t.checkPaths(c.git); hit != nil {
			return hit
		}
		for _, host := range c.git.Hosts {
			if hit := t.checkHost(host, t.allowed.match(host)); hit != nil {
				return hit
			}
		}
	}
	return t.checkHosts(c)
}

func (t *Team) checkCommand(x *Context, target *model.Target) *policyHit {
	if t.rules.RequireSandbox != "" && (target.OutsideSandbox || x.Isolation != model.IsolationOS) {
		return &policyHit{key: "requireSandbox", entry: Entry{Source: t.rules.RequireSandbox}, what: target.Source}
	}
	if len(t.rules.DisallowedCommands) == 0 {
		return nil
	}
	if pattern, matched, ok := t.commands.Match(target.Command); ok {
		return &policyHit{key: "disallowedCommands", entry: find(t.rules.DisallowedCommands, pattern), what: matched}
	}
	return nil
}

// checkPaths looks at a target's own path, its redirections and its mentions.
func (t *Team) checkPaths(target *model.Target) *policyHit {
	try := func(p *model.Path, access model.Access) *policyHit {
		pattern, real, ok := t.paths.Match(p)
		if !ok {
			return nil
		}
		return &policyHit{
			key: "denyPaths", entry: find(t.rules.DenyPaths, pattern),
			path: &pathHit{path: *p, real: real, access: access},
		}
	}
	if target.Kind == model.KindPath {
		return try(&target.Path, target.Access)
	}
	for _, refs := range [][]model.PathRef{target.Redirections, target.Mentions} {
		for i := range refs {
			if refs[i].Rel == "" {
				continue // a dynamic redirection has no path
			}
			if hit := try(&refs[i].Path, refs[i].Access); hit != nil {
				return hit
			}
		}
	}
	return nil
}

// BlockedHosts are the team policy's hosts for the proxy.
func (t *Team) BlockedHosts() []netguard.BlockedHost {
	out := make([]netguard.BlockedHost, len(t.blocked))
	for i, p := range t.blocked {
		out[i] = netguard.BlockedHost{Pattern: p, File: t.rules.BlockedHosts[i].Source}
	}
	return out
}

// HasDenyPaths reports whether the team policy closes any path.
func (t *Team) HasDenyPaths() bool { return len(t.rules.DenyPaths) > 0 }

// DeniesPath reports whether denyPaths name a path, relative to the root.
func (t *Team) DeniesPath(rel string) bool {
	_, ok := t.paths.MatchRel(rel)
	return ok
}

// checkHosts looks at the hosts of url targets and those that commands mention.
func (t *Team) checkHosts(c *Call) *policyHit {
	if len(t.blocked) == 0 && t.rules.StrictAllowlist == "" {
		return nil
	}
	for i := range c.Input.Targets {
		target := &c.Input.Targets[i]
		switch target.Kind {
		case model.KindURL:
			if hit := t.checkHost(target.Host.Host, c.match.TargetCovered[i]); hit != nil {
				return hit
			}
		case model.KindCommand:
			for _, host := range target.Hosts {
				if hit := t.checkHost(host, t.allowed.match(host)); hit != nil {
					return hit
				}
			}
		}
	}
	return nil
}

func (t *Team) checkHost(host string, allowed bool) *policyHit {
	for i, p := range t.blocked {
		if p.Match(host) {
			return &policyHit{key: "network.blockedHosts", entry: t.rules.BlockedHosts[i], what: host}
		}
	}
	if t.rules.StrictAllowlist != "" && !allowed {
		return &policyHit{key: "network.strictAllowlist", entry: Entry{Source: t.rules.StrictAllowlist}, what: host}
	}
	return nil
}

// allowedHosts are the hosts that allow rules of settings speak of.
type allowedHosts struct {
	any      bool
	patterns []netguard.HostPattern
}

func compileAllowedHosts(list []model.Rule, env rules.Env) allowedHosts {
	var out allowedHosts
	for i := range list {
		r := &list[i]
		if r.Effect != model.EffectAllow || r.Syntax != model.SyntaxSettings || env.KindOf(env.Canonical(r.Tool)) != model.KindURL {
			continue
		}
		if r.Bare {
			out.any = true
			continue
		}
		// The rules' own compilation reports a pattern that is invalid.
		if p, err := netguard.ParsePattern(r.Pattern, r.Source); err == nil {
			out.patterns = append(out.patterns, p)
		}
	}
	return out
}

func (a *allowedHosts) match(host string) bool {
	if a.any {
		return true
	}
	for _, p := range a.patterns {
		if p.Match(host) {
			return true
		}
	}
	return false
}

// reference returns the redirection or mention that evidence speaks of, or nil.
func reference(t *model.Target, ref int) *model.PathRef {
	switch n := len(t.Redirections); {
	case ref < 0:
		return nil
	case ref < n:
		return &t.Redirections[ref]
	case ref-n < len(t.Mentions):
		return &t.Mentions[ref-n]
	}
	return nil
}

func texts(entries []Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Text
	}
	return out
}

func find(entries []Entry, text string) Entry {
	for _, e := range entries {
		if e.Text == text {
			return e
		}
	}
	return Entry{Text: text}
}
