package client

import (
	"os"
	"strings"
)

// projectVars are the variables that agents set for their hooks; a test holds
// them together with internal/hook.
var projectVars = []string{"CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "FACTORY_PROJECT_DIR", "GEMINI_PROJECT_DIR"}

// secretWords are parts of the names of variables whose values are secrets. The
// daemon was started with another environment, and must keep these values out of
// the record as the cold path does, whose environment it is.
var secretWords = []string{"KEY", "TOKEN", "SECRET", "PASSW", "PWD", "CREDENTIAL", "AUTH", "PRIVATE", "DSN", "COOKIE", "SESSION"}

// IsProjectVar reports whether a variable names an agent's project folder.
func IsProjectVar(name string) bool {
	for _, v := range projectVars {
		if v == name {
			return true
		}
	}
	return false
}

// pickVars takes from an environment what a request carries: the project folders
// and what may be secret, such as passwords in the addresses of servers.
func pickVars(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && (IsProjectVar(name) || len(value) >= 6 && isSecret(name, value)) {
			out = append(out, kv)
		}
	}
	return out
}

func isSecret(name, value string) bool {
	if at := strings.IndexByte(value, '@'); at > 0 && strings.Contains(value[:at], "://") {
		return true
	}
	if value[0] == '/' || name == "PWD" || name == "OLDPWD" {
		return false
	}
	name = strings.ToUpper(name)
	for _, w := range secretWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// NewRequest fills a request with the facts of this process.
func NewRequest(agent string, ask bool, stdin []byte) *Request {
	cwd, _ := os.Getwd()
	return &Request{
		Kind: KindHook, Agent: agent, Ask: ask, Home: os.Getenv("HOME"), Space: Space(),
		Cwd: cwd, Vars: pickVars(os.Environ()), Stdin: stdin,
	}
}
