package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// claude reads the permissions of Claude Code's settings.
func (im *importer) claude() error {
	names := []string{"settings.json"}
	if im.scope == Project {
		names = append(names, "settings.local.json")
	}
	for _, name := range names {
		data, err := im.read(inFolder(im.scope, im.o, "CLAUDE_CONFIG_DIR", ".claude", ".claude", name))
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		if err := im.claudeFile(data); err != nil {
			return fmt.Errorf("%s: %w", im.file, err)
		}
	}
	return nil
}

func (im *importer) claudeFile(data []byte) error {
	_, root, err := open(data)
	if err != nil {
		return err
	}
	permissions := root.member("permissions")
	if permissions == nil {
		return nil
	}
	for _, n := range permissions.children {
		switch n.key {
		case "allow", "ask", "deny":
			var list []string
			if err := json.Unmarshal([]byte(n.plain(data)), &list); err != nil {
				return fmt.Errorf("permissions.%s must be a list of texts", n.key)
			}
			for _, text := range list {
				im.claudeRule(model.Effect(n.key), text)
			}
		case "defaultMode":
			im.left("defaultMode: "+n.plain(data), "lictor reads only plan of an agent's modes; what no rule covers is asked about")
		case "additionalDirectories":
			im.left("additionalDirectories: "+n.plain(data), "write rules with absolute paths for them: Read(/dir/**), Edit(/dir/**), Write(/dir/**)")
		default:
			im.left(n.key+": "+n.plain(data), "lictor has no such setting")
		}
	}
	return nil
}

func (im *importer) claudeRule(effect model.Effect, text string) {
	from := string(effect) + " " + text
	tool, spec, open := strings.Cut(strings.TrimSpace(text), "(")
	if open {
		var closed bool
		if spec, closed = strings.CutSuffix(spec, ")"); !closed {
			im.left(from, "it has no closing parenthesis")
			return
		}
		if spec == "" {
			im.left(from, "it has an empty pattern")
			return
		}
	}
	bare := !open || spec == "*"
	switch {
	case strings.HasPrefix(tool, "mcp__"):
		im.claudeMCP(effect, from, tool, open)
	case tool == "Bash":
		im.command(effect, from, claudeCommand(spec), bare)
	case tool == "Read":
		im.paths(effect, from, spec, bare, "Read")
	case tool == "Edit", tool == "Write", tool == "MultiEdit", tool == "NotebookEdit":
		im.paths(effect, from, spec, bare, "Edit", "Write")
	case tool == "Glob" || tool == "Grep" || tool == "LS":
		if !bare {
			im.left(from, "lictor's Glob, Grep and List rules are about the searched folder: write them by hand")
			return
		}
		im.take(effect, from, "", strings.Replace(tool, "LS", "List", 1)+"(**)")
	case tool == "WebFetch":
		im.fetch(effect, from, spec, bare)
	case tool == "WebSearch" && bare:
		im.take(effect, from, "", "web_search(*)")
	default:
		im.left(from, "lictor has no rules for what this tool is asked to do")
	}
}

// claudeCommand is a command pattern in lictor's words: `git:*` is `git *`.
func claudeCommand(spec string) string {
	if prefix, ok := strings.CutSuffix(spec, ":*"); ok {
		return prefix + " *"
	}
	return spec
}

// command takes a rule for commands; pattern is in lictor's syntax but for what
// stands in it by itself.
func (im *importer) command(effect model.Effect, from, pattern string, bare bool) {
	switch {
	case bare:
		im.take(effect, from, "", "Bash(*)")
	case strings.Contains(pattern, `\`):
		im.left(from, "lictor's command patterns have no escapes")
	case effect == model.EffectAllow && strings.Contains(pattern, "?"):
		im.left(from, "`?` is any character in lictor's patterns, so it would allow more")
	case strings.Contains(pattern, "?"):
		im.take(effect, from, "`?` is any character in lictor's patterns: it covers more", "Bash("+pattern+")")
	default:
		im.take(effect, from, "", "Bash("+pattern+")")
	}
}

func (im *importer) claudeMCP(effect model.Effect, from, tool string, open bool) {
	server, name, ok := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	switch {
	case open:
		im.left(from, "lictor's MCP rules are about the tool, not its arguments")
	case strings.Contains(server, "*") && effect == model.EffectAllow:
		im.left(from, "a rule that allows every MCP server must be accepted by hand: lictor rules add")
	case strings.Contains(server, "*"):
		im.take(effect, from, "", "MCP("+server+")")
	case !ok || name == "":
		im.take(effect, from, "", "MCP("+server+"/*)")
	default:
		im.take(effect, from, "", "MCP("+server+"/"+name+")")
	}
}

// paths takes a rule for files. Claude Code's patterns are those of gitignore, of
// four kinds: //absolute, ~/home, /settings and relative.
func (im *importer) paths(effect model.Effect, from, spec string, bare bool, classes ...string) {
	if bare {
		why, patterns := "", []string{"**"}
		if effect == model.EffectAllow {
			why = "inside of the project only: outside, lictor wants absolute paths"
		} else {
			patterns = append(patterns, "/**")
		}
		im.take(effect, from, why, each(classes, patterns)...)
		return
	}
	if strings.ContainsAny(spec, `{}\`) || strings.HasPrefix(spec, "!") {
		im.left(from, "braces, escapes and `!` mean something else in lictor's patterns")
		return
	}
	var patterns []string
	switch {
	case strings.HasPrefix(spec, "//"):
		patterns = below(spec[1:])
	case strings.HasPrefix(spec, "~/"):
		patterns = below(spec)
	case strings.HasPrefix(spec, "/") && im.scope == User:
		im.left(from, "it is relative to the user's settings: write the path with ~/ or from the root of the disk")
		return
	case strings.HasPrefix(spec, "/"), strings.HasPrefix(spec, "./"):
		patterns = below(strings.TrimPrefix(strings.TrimPrefix(spec, "."), "/"))
	case !strings.Contains(strings.TrimSuffix(spec, "/"), "/"):
		// A name without a folder is meant at any depth.
		patterns = below("**/" + spec)
	default:
		patterns = below(spec)
	}
	im.take(effect, from, "", each(classes, patterns)...)
}

// below is a gitignore pattern as globs: a name is also everything below it.
func below(pattern string) []string {
	trimmed := strings.TrimSuffix(pattern, "/")
	if trimmed == "" || strings.HasSuffix(trimmed, "**") {
		return []string{pattern + map[bool]string{true: "**", false: ""}[strings.HasSuffix(pattern, "/")]}
	}
	if trimmed != pattern {
		return []string{trimmed + "/**"}
	}
	return []string{pattern, pattern + "/**"}
}

func each(classes, patterns []string) []string {
	var out []string
	for _, c := range classes {
		for _, p := range patterns {
			out = append(out, c+"("+filepath.ToSlash(p)+")")
		}
	}
	return out
}

// fetch takes a rule for a host.
func (im *importer) fetch(effect model.Effect, from, spec string, bare bool) {
	host, ok := strings.CutPrefix(spec, "domain:")
	switch {
	case bare:
		im.take(effect, from, "", "Fetch(*)")
	case !ok || host == "" || strings.ContainsAny(host, "/?@:") || host == "*":
		im.left(from, "lictor reads only domain:host of these rules")
	case effect == model.EffectAllow && strings.Contains(host, "*"):
		im.left(from, "`*` in a URL pattern also covers paths: write the hosts, or a settings rule web_fetch(*.host)")
	case effect == model.EffectAllow:
		im.take(effect, from, "https only", "Fetch(https://"+host+")", "Fetch(https://"+host+"/*)")
	default:
		host = strings.ToLower(host)
		im.take(effect, from, "", "Fetch(*://"+host+")", "Fetch(*://"+host+"/*)", "Fetch(*://"+host+":*)")
	}
}
