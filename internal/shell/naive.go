package shell

import (
	"slices"
	"strings"
)

// maxNaive bounds the segments of a naive split; of a text that is too long only
// the two ends are split, maxEnd bytes of each.
const (
	maxNaive = 4096
	maxEnd   = MaxBytes / 2
)

// naive splits a text that cannot be trusted at everything that could part
// commands, quotes or not. It feeds deny and ask rules only, so it may find too
// much.
func naive(s string) []string {
	if len(s) > MaxBytes {
		return append(naive(s[:maxEnd]), naive(s[len(s)-maxEnd:])...)
	}
	var out []string
	add := func(t string) {
		if t != "" && len(out) < maxNaive && (len(out) == 0 || out[len(out)-1] != t) {
			out = append(out, t)
		}
	}
	from, last := 0, ""
	for i := 0; i <= len(s); i++ {
		if i < len(s) {
			switch s[i] {
			case ';', '&', '|', '\n', '\r', '(', ')', '{', '}', '`', '<', '>':
			default:
				continue
			}
		}
		if one := s[from:i]; one != last {
			segment(one, add)
			last = one
		}
		from = i + 1
	}
	if strings.IndexByte(s, '\r') >= 0 { // a letter to the shell
		out = append(out, naive(strings.ReplaceAll(s, "\r", "\x01"))...)
	}
	if len(out) > 1 {
		out = dedupe(out)
	}
	return out
}

func dedupe(list []string) []string {
	if len(list) <= 32 {
		out := list[:0]
		for _, s := range list {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		return out
	}
	seen := make(map[string]bool, len(list))
	out := list[:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// keywords stand before a command.
const keywords = "if then else elif do while until time ! coproc exec command builtin eval - nohup noglob nocorrect"

func fields0(fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// unquoter drops what hides a name.
var unquoter = strings.NewReplacer("'", "", `"`, "", `\`, "", "\x00", "", "$", "", "[", " ", "]", " ")

// segment adds the spellings of one piece: as it is, without quotes, and
// without what stands before its command.
func segment(s string, add func(string)) {
	s = strings.Trim(s, " \t")
	if s == "" || len(s) < 3 && strings.Trim(s, "$'\"\\[]") == "" {
		return
	}
	if bare(s) && strings.IndexByte(s, '=') < 0 { // one word
		add(s)
		if base := baseName(s); base != s {
			add(base)
		}
		return
	}
	fields := strings.Fields(s)
	if plain := strings.Join(fields, " "); len(fields) > 0 {
		add(plain)
	}
	if strings.ContainsAny(s, "'\"\\$\x00=") || s[0] == '[' {
		fields = strings.Fields(unquoter.Replace(s))
		add(strings.Join(fields, " "))
	}
	for _, pre := range [...]string{"e:", "+", "+:"} { // glob qualifiers of zsh
		if rest, ok := strings.CutPrefix(fields0(fields), pre); ok && rest != "" {
			add(strings.TrimSuffix(strings.Join(append([]string{rest}, fields[1:]...), " "), ":"))
		}
	}
	bareFrom := 0
	for bareFrom < len(fields) {
		f := fields[bareFrom]
		if !inList(keywords, f) && !(strings.IndexByte(f, '=') >= 0) {
			break
		}
		if f[0] == '=' && len(f) > 1 {
			fields[bareFrom] = f[1:]
			break
		}
		bareFrom++
	}
	fields = fields[bareFrom:]
	if len(fields) == 0 {
		return
	}
	if base := baseName(fields[0]); base != fields[0] || bareFrom > 0 || strings.HasPrefix(s, "=") {
		add(strings.Join(append([]string{base}, fields[1:]...), " "))
	}
	// Behind a wrapper, the command may start at any of the next words.
	for range 3 {
		p := lookup(baseName(fields[0]))
		if p == nil || p.wrap == nil || len(fields) < 2 {
			return
		}
		for k := 1; k < len(fields) && k <= 6; k++ {
			if f := fields[k]; f[0] != '-' && strings.IndexByte(f, '=') < 0 {
				add(strings.Join(fields[k:], " "))
			}
		}
		k := 1
		for k < len(fields)-1 && (fields[k][0] == '-' || strings.IndexByte(fields[k], '=') >= 0) {
			k++
		}
		fields = fields[k:]
	}
}
