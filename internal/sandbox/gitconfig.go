package sandbox

import (
	"path/filepath"
	"strings"
)

// gitSetting is one line of a git configuration: "section.sub.key" with section
// and key in lower case.
type gitSetting struct{ key, value string }

// parseGitConfig reads the settings of a git configuration file. It is lenient
// where git is strict: a line that is not understood becomes a setting with the key
// "?", which no allowlist contains.
func parseGitConfig(text string) []gitSetting {
	var out []gitSetting
	section := ""
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines[i], "\ufeff"))
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimSpace(lines[i])
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			end := strings.LastIndexByte(line, ']')
			if q := strings.LastIndexByte(line, '"'); q > 0 && end < q {
				end = -1
			}
			if end < 0 {
				out = append(out, gitSetting{key: "?"})
				continue
			}
			section = sectionName(line[1:end])
			line = strings.TrimSpace(line[end+1:])
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
		}
		key, value, has := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if section == "" || key == "" || strings.ContainsAny(key, " \t\"[]") {
			out = append(out, gitSetting{key: "?"})
			continue
		}
		if !has {
			value = "true"
		}
		out = append(out, gitSetting{section + "." + key, gitValue(value)})
	}
	return out
}

// sectionName turns `remote "origin"` into "remote.origin".
func sectionName(s string) string {
	name, sub, quoted := strings.Cut(s, `"`)
	name = strings.ToLower(strings.TrimSpace(name))
	if !quoted {
		return name
	}
	return name + "." + strings.TrimSuffix(strings.TrimSpace(sub), `"`)
}

// gitValue takes away quotes, escapes and a comment.
func gitValue(v string) string {
	var b strings.Builder
	in := false
	v = strings.TrimSpace(v)
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '\\' && i+1 < len(v):
			i++
			b.WriteByte(v[i])
		case c == '"':
			in = !in
		case (c == '#' || c == ';') && !in:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// harmlessGitKeys are the settings that a new repository may have: none of them
// makes git run a program or read another configuration. "*" is any subsection.
var harmlessGitKeys = map[string]bool{
	"core.repositoryformatversion": true, "core.filemode": true, "core.bare": true, "core.logallrefupdates": true,
	"core.ignorecase": true, "core.precomposeunicode": true, "core.symlinks": true, "core.autocrlf": true, "core.eol": true,
	"core.safecrlf": true, "core.quotepath": true, "core.longpaths": true, "core.sparsecheckout": true, "core.sparsecheckoutcone": true,
	"core.abbrev": true, "core.compression": true, "core.protecthfs": true, "core.protectntfs": true,
	"extensions.objectformat": true, "extensions.partialclone": true, "extensions.refstorage": true, "extensions.compatobjectformat": true,
	"user.name": true, "user.email": true, "user.useconfigonly": true, "init.defaultbranch": true, "pull.rebase": true, "pull.ff": true,
	"push.default": true, "push.autosetupremote": true, "fetch.prune": true, "merge.conflictstyle": true, "rebase.autostash": true,
	"commit.gpgsign": true, "tag.gpgsign": true, "gc.auto": true, "color.ui": true, "advice.detachedhead": true,
	"remote.*.url": true, "remote.*.fetch": true, "remote.*.pushurl": true, "remote.*.tagopt": true, "remote.*.promisor": true,
	"remote.*.partialclonefilter": true, "remote.*.prune": true, "remote.*.mirror": true,
	"branch.*.remote": true, "branch.*.merge": true, "branch.*.rebase": true, "branch.*.description": true,
	"submodule.*.url": true, "submodule.*.active": true, "submodule.active": true,
}

// harmlessGitConfig reports whether every setting is on the list, and if not, the
// first that is not.
func harmlessGitConfig(settings []gitSetting) (bad string, ok bool) {
	for _, s := range settings {
		key := s.key
		if i, j := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.'); i >= 0 && j > i {
			key = key[:i] + ".*" + key[j:]
		}
		if !harmlessGitKeys[key] {
			return s.key, false
		}
		if strings.HasSuffix(key, "url") && strings.Contains(s.value, "::") {
			return s.key, false // ext::command
		}
	}
	return "", true
}

// gitPrograms returns the files of the work tree that git would execute or read as
// configuration because the settings say so: core.hooksPath=.githooks,
// core.fsmonitor=tools/watch, include.path, filter and diff drivers.
func gitPrograms(settings []gitSetting, gitdir, work, home string) []string {
	var out []string
	for _, s := range settings {
		i, j := strings.IndexByte(s.key, '.'), strings.LastIndexByte(s.key, '.')
		if i < 0 {
			continue
		}
		section, key := s.key[:i], s.key[j+1:]
		base, ok := work, false
		switch section + "." + key {
		case "core.hookspath", "core.fsmonitor", "core.sshcommand", "core.editor", "core.pager", "core.gitproxy", "core.askpass",
			"diff.external", "diff.command", "diff.textconv", "merge.driver", "gpg.program", "credential.helper",
			"filter.clean", "filter.smudge", "filter.process", "sequence.editor", "uploadpack.packobjectshook":
			ok = true
		case "include.path", "includeif.path":
			ok, base = true, gitdir // relative to the file that includes
		case "core.worktree":
			continue
		default:
			ok = section == "alias" && strings.HasPrefix(s.value, "!")
		}
		if !ok {
			continue
		}
		word := strings.TrimPrefix(s.value, "!")
		if section+"."+key != "core.hookspath" && base == work {
			word, _, _ = strings.Cut(word, " ")
		}
		switch {
		case word == "" || !strings.Contains(word, "/") && section+"."+key != "core.hookspath" && base == work:
			continue // a name that is looked up in PATH
		case strings.HasPrefix(word, "~/"):
			word = filepath.Join(home, word[2:])
		case !filepath.IsAbs(word):
			word = filepath.Join(base, word)
		}
		out = append(out, filepath.Clean(word))
	}
	return out
}
