package audit

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"strings"
)

// minEnvSecret is the shortest value of an environment variable that counts as
// a secret.
const minEnvSecret = 6

// environSecrets picks the secrets of an environment: values of variables with
// a secret's name, and passwords in the URLs of others.
func environSecrets(environ []string) []literal {
	var out []literal
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || len(value) < minEnvSecret {
			continue
		}
		if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host != "" {
			if password, ok := u.User.Password(); ok && len(password) >= minEnvSecret {
				out = append(out, spellings(password, kindEnv)...)
			}
			if !secretEnvName(name) {
				continue
			}
		}
		if secretEnvName(name) && !harmlessValue(value) {
			out = append(out, spellings(value, kindEnv)...)
		}
	}
	return out
}

// secretEnvName reports whether a variable of this name holds a secret, not the
// place or the kind of one.
func secretEnvName(name string) bool {
	return nameStrength([]byte(name), nameEnv) > 0
}

// harmlessValue reports whether the value of a variable with a secret's name is
// none: a word, a small number, a path that exists.
func harmlessValue(v string) bool {
	if plainValue([]byte(v), weakName) {
		return true
	}
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~") || strings.Contains(v, `:\`) {
		if _, err := os.Lstat(v); err == nil {
			return true
		}
	}
	return false
}

// spellings are the encodings in which a secret may turn up.
func spellings(v, kind string) []literal {
	quoted, _ := json.Marshal(v)
	all := []string{
		v,
		string(quoted[1 : len(quoted)-1]),
		url.QueryEscape(v),
		url.PathEscape(v),
		// Without the last, padded group: the text may go on after the secret.
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(v)), "="),
		strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(v)), "="),
		hex.EncodeToString([]byte(v)),
	}
	out := make([]literal, 0, len(all))
	seen := map[string]bool{}
	for _, s := range all {
		if len(s) >= minRegistered && !seen[s] {
			seen[s] = true
			out = append(out, literal{s, kind})
		}
	}
	return out
}
