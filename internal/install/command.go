package install

import (
	"path"
	"regexp"
	"strings"

	"github.com/lictor-policy/lictor/internal/hook"
)

// seconds is the host's timeout for the hook.
const seconds = int(hook.HostTimeout / 1e9)

// line is the command that the agent runs, without a fallback.
func (o Options) line(agent string) string {
	words := append(append([]string{}, o.Command...), agent)
	if o.Ask {
		words = append(words, "--ask")
	}
	quote := quoteShell
	if o.Windows {
		quote = quoteWindows
	}
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

// guarded is the command with what happens if lictor cannot be started: the shell
// that the agent runs it in says the refusal instead. There is no such text for
// the shells of Windows.
func (o Options) guarded(agent, otherwise string) string {
	if o.Windows || otherwise == "" {
		return o.line(agent)
	}
	return o.line(agent) + " || " + otherwise
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

func quoteShell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoteWindows is for cmd, PowerShell and programs' own argument parsers alike; no
// path on Windows has a double quote.
func quoteWindows(word string) string {
	if strings.ContainsAny(word, " &()^;,'") {
		return `"` + strings.ReplaceAll(word, `"`, "") + `"`
	}
	return word
}

// firstWords takes the words of a command as far as quoting and blanks say.
func firstWords(command string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	started, escaped := false, false
	for _, r := range strings.TrimPrefix(command, "& ") {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == '\\' && !strings.Contains(command, `:\`):
			escaped, started = true, true
		case r == ' ' || r == '\t':
			if started {
				out = append(out, word.String())
				word.Reset()
			}
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if started {
		out = append(out, word.String())
	}
	return out
}

// ours reports whether a command runs lictor's hook for the agent, wherever
// lictor lies.
func ours(command, agent string) bool {
	words := firstWords(command)
	if len(words) < 2 {
		return false
	}
	program := strings.TrimSuffix(path.Base(strings.ReplaceAll(words[0], `\`, "/")), ".exe")
	switch {
	case program == "lictor-hook":
		return words[1] == agent
	case program == "lictor" && len(words) > 2:
		return words[1] == "hook" && words[2] == agent
	}
	// A program of another name that was given as the command.
	return len(words) > 2 && words[1] == "hook" && words[2] == agent && strings.Contains(program, "lictor")
}
