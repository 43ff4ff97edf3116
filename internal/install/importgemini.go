package install

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/lictor-policy/lictor/internal/model"
)

// geminiRule is one [[rule]] of a policy file.
type geminiRule struct {
	Tool     any    `toml:"toolName"`
	Server   string `toml:"mcpName"`
	Prefix   any    `toml:"commandPrefix"`
	Decision string `toml:"decision"`
	Priority int    `toml:"priority"`
}

// geminiKnown are the members that lictor reads, and those that change nothing of
// what a rule covers.
var geminiKnown = map[string]bool{
	"toolName": true, "mcpName": true, "commandPrefix": true, "decision": true, "priority": true,
	"denyMessage": true, "deny_message": true, "allowRedirection": true,
}

// gemini reads policies/*.toml.
func (im *importer) gemini() error {
	files, err := folder(inFolder(im.scope, im.o, "", ".gemini", ".gemini", "policies"), ".toml")
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := im.read(f)
		if err != nil {
			return err
		}
		var in struct {
			Rules []map[string]any `toml:"rule"`
		}
		var typed struct {
			Rules []geminiRule `toml:"rule"`
		}
		for _, into := range []any{&in, &typed} {
			if _, err := toml.Decode(string(data), into); err != nil {
				return fmt.Errorf("%s: %w", im.file, err)
			}
		}
		highest := -1
		for i, r := range typed.Rules {
			im.geminiRule(r, in.Rules[i])
			if r.Decision == "allow" {
				highest = max(highest, r.Priority)
			}
		}
		for _, r := range typed.Rules {
			if r.Decision != "allow" && r.Priority < highest {
				im.note("in Gemini CLI the rule with the highest priority wins; in lictor deny outranks allow, and allow outranks ask, whatever the priority")
			}
		}
	}
	return nil
}

func (im *importer) geminiRule(r geminiRule, members map[string]any) {
	from := describe(r, members)
	effect, ok := map[string]model.Effect{
		"allow": model.EffectAllow, "deny": model.EffectDeny, "ask_user": model.EffectAsk,
	}[r.Decision]
	if !ok {
		im.left(from, fmt.Sprintf("its decision %q is not known", r.Decision))
		return
	}
	for key := range members {
		if !geminiKnown[key] {
			im.left(from, "lictor cannot say the condition "+key)
			return
		}
	}
	tools, ok1 := textOrList(r.Tool)
	prefixes, ok2 := textOrList(r.Prefix)
	if !ok1 || !ok2 {
		im.left(from, "toolName and commandPrefix must be a text or a list of texts")
		return
	}
	if len(prefixes) > 0 {
		for _, tool := range tools {
			if tool != "run_shell_command" {
				im.left(from, "commandPrefix is for run_shell_command only")
				return
			}
		}
		im.geminiPrefixes(effect, from, prefixes)
		return
	}
	if r.Server != "" && len(tools) == 0 {
		tools = []string{"*"}
	}
	if len(tools) == 0 {
		im.left(from, "it names no tool: lictor has no rule for every tool")
		return
	}
	for _, tool := range tools {
		im.geminiTool(effect, from, r.Server, tool)
	}
}

func (im *importer) geminiPrefixes(effect model.Effect, from string, prefixes []string) {
	var to []string
	for _, p := range prefixes {
		p = strings.TrimSpace(p)
		if p == "" || steers(p) && effect == model.EffectAllow {
			im.left(from, fmt.Sprintf("the prefix %q would be a wildcard in lictor's patterns", p))
			return
		}
		to = append(to, "Bash("+p+" *)")
	}
	im.take(effect, from, "", to...)
}

// geminiPaths are the classes of Gemini CLI's own tools.
var geminiPaths = map[string][]string{
	"read_file": {"Read"}, "read_many_files": {"Read"}, "write_file": {"Write"}, "replace": {"Edit"},
	"glob": {"Glob"}, "search_file_content": {"Grep"}, "grep_search": {"Grep"}, "list_directory": {"List"},
}

func (im *importer) geminiTool(effect model.Effect, from, server, tool string) {
	full := strings.TrimPrefix(tool, "mcp_") != tool
	switch {
	case server == "" && full:
		// The server ends at the first underscore, as Gemini CLI reads it.
		server, tool, _ = strings.Cut(strings.TrimPrefix(tool, "mcp_"), "_")
		if tool == "" {
			tool = "*"
		}
	case server == "" && tool == "*":
		im.left(from, "lictor has no rule for every tool")
		return
	}
	switch classes, isPath := geminiPaths[tool]; {
	case server != "":
		if strings.Contains(server, "*") && effect == model.EffectAllow {
			im.left(from, "a rule that allows tools of every MCP server must be accepted by hand: lictor rules add")
			return
		}
		im.take(effect, from, "", "MCP("+server+"/"+tool+")")
	case tool == "run_shell_command":
		im.command(effect, from, "", true)
	case tool == "web_fetch":
		im.take(effect, from, "", "Fetch(*)")
	case isPath:
		im.paths(effect, from, "", true, classes...)
	case strings.ContainsAny(tool, "*?()"):
		im.left(from, "a wildcard in a tool's name cannot be said in permission files")
	default:
		im.take(effect, from, "", tool+"(*)")
	}
}

// textOrList reads a text or a list of texts; absent is none.
func textOrList(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		var out []string
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

// describe is a policy rule on one line.
func describe(r geminiRule, members map[string]any) string {
	out := r.Decision
	for _, key := range []string{"toolName", "mcpName", "commandPrefix", "commandRegex", "argsPattern", "subagent", "modes"} {
		if v, ok := members[key]; ok {
			out += fmt.Sprintf(" %s=%v", key, v)
		}
	}
	return out
}
