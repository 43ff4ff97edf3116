package audit

// nameContext says where a name stands: some names are a secret's only there.
type nameContext uint8

const (
	nameText   nameContext = iota // name=value, name: value, --name value
	nameQuery                     // ?name=value in a URL
	nameHeader                    // a header, or a name that starts with "x-"
	nameEnv                       // an environment variable
)

// strength says how sure a name is to name a secret.
type strength uint8

const (
	noName     strength = iota
	weakName            // token, auth, key: short words and numbers are none
	strongName          // password, secret: anything is one
	headerName          // authorization, cookie: the whole rest of the line
)

// endings are the ends of compacted names (lower case, no separators, no
// trailing digits) that mean a secret.
var endings = []ending{
	{"proxyauthorization", headerName},
	{"authorization", headerName},
	{"setcookie", headerName},
	{"password", strongName},
	{"passwd", strongName},
	{"passphrase", strongName},
	{"passcode", strongName},
	{"secret", strongName},
	{"secretkey", strongName},
	{"secretaccesskey", strongName},
	{"secretkeybase", strongName},
	{"privatekey", strongName},
	{"clientsecret", strongName},
	{"connectionstring", strongName},
	{"token", weakName},
	{"apikey", weakName},
	{"accesskey", weakName},
	{"authkey", weakName},
	{"accountkey", weakName},
	{"sharedkey", weakName},
	{"sharedaccesskey", weakName},
	{"signingkey", weakName},
	{"encryptionkey", weakName},
	{"masterkey", weakName},
	{"deploykey", weakName},
	{"bearer", weakName},
	{"credential", weakName},
	{"jwt", weakName},
}

type ending struct {
	text     string
	strength strength
}

// endingsBy finds endings by their last byte.
var endingsBy = func() (t [256][]ending) {
	for _, e := range endings {
		c := e.text[len(e.text)-1]
		t[c] = append(t[c], e)
	}
	return t
}()

// words are whole last words of a name ("MYSQL_PASS", "db-pwd") that mean a
// secret; queryWords and headerWords only there.
var (
	words       = []string{"pass", "pwd", "auth", "pat"}
	queryWords  = []string{"key", "sig", "signature", "code", "session", "sessionid", "sid", "otp", "pin", "ticket", "credential", "hmac", "accesskeyid", "awsaccesskeyid"}
	headerWords = []string{"key", "cookie", "signature", "session"}
	envWords    = []string{"key", "credentials", "cookie", "dsn"}
	// inner are words anywhere in a name of which the last word is none of
	// places: PASSWORD_PROD, GITHUB_TOKEN_2.
	inner  = []string{"password", "passwd", "secret", "token"}
	places = []string{
		"file", "path", "dir", "name", "type", "kind", "count", "length", "len", "limit", "size", "id", "url", "uri",
		"endpoint", "host", "ttl", "expiry", "expires", "expiration", "age", "policy", "manager", "store", "version",
		"index", "stdin", "prompt", "field", "env", "var", "command", "cmd", "helper", "mode", "enabled", "required",
		"ref", "arn", "namespace", "provider", "source", "budget", "usage", "parallelism", "sock", "engine", "scan",
		"scanning", "reset", "rotation", "format", "hash", "class", "s", "max", "min", "per", "used", "only",
	}
)

const maxName = 64

// nameStrength says whether a name ("DB_PASSWORD", "apiKey", "x-auth-token") is
// that of a secret.
func nameStrength(name []byte, ctx nameContext) strength {
	if len(name) < 3 || len(name) > maxName {
		return noName
	}
	var low [maxName]byte    // lower case, no separators
	var starts [maxName]bool // a word starts here
	n := 0
	sep := true
	for i, c := range name {
		switch {
		case c == '_' || c == '-' || c == '.':
			sep = true
			continue
		case c >= 'A' && c <= 'Z':
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				sep = true
			}
			c += 'a' - 'A'
		case c >= 0x80:
			return noName
		}
		low[n], starts[n] = c, sep
		sep = false
		n++
	}
	for n > 0 && low[n-1] >= '0' && low[n-1] <= '9' {
		n--
	}
	if n < 3 {
		return noName
	}
	flat := low[:n]
	if string(flat) == "pwd" || string(flat) == "oldpwd" {
		return noName // the working folder
	}
	for _, e := range endingsBy[flat[n-1]] {
		if hasSuffix(flat, e.text) {
			return e.strength
		}
	}
	last := lastWord(flat, starts[:n])
	switch {
	case isOneOf(last, words):
		return weakName
	case string(flat) == "cookie" && ctx == nameHeader:
		return headerName
	case ctx == nameQuery && isOneOf(last, queryWords),
		ctx == nameHeader && isOneOf(last, headerWords),
		ctx == nameEnv && isOneOf(last, envWords):
		return weakName
	}
	if len(last) == n || isOneOf(last, places) {
		return noName // one word, or a word about where the secret is
	}
	for i := range flat {
		if !starts[i] {
			continue
		}
		for _, w := range inner {
			end := i + len(w)
			if end < n && starts[end] && string(flat[i:end]) == w {
				return weakName
			}
		}
	}
	return noName
}

func lastWord(flat []byte, starts []bool) []byte {
	for i := len(flat) - 1; i > 0; i-- {
		if starts[i] {
			return flat[i:]
		}
	}
	return flat
}

func hasSuffix(p []byte, s string) bool {
	return len(p) >= len(s) && string(p[len(p)-len(s):]) == s
}

func isOneOf(p []byte, list []string) bool {
	for _, s := range list {
		if string(p) == s {
			return true
		}
	}
	return false
}

// plainWords are values that say something about a secret without being one.
var plainWords = map[string]bool{
	"true": true, "false": true, "null": true, "none": true, "nil": true, "undefined": true, "yes": true, "no": true,
	"on": true, "off": true, "required": true, "optional": true, "string": true, "str": true, "bytes": true,
	"bool": true, "int": true, "number": true, "any": true, "auto": true, "default": true, "basic": true,
	"bearer": true, "digest": true, "oauth": true, "oauth2": true, "inherit": true, "prompt": true, "stdin": true,
	"keyring": true, "keychain": true, "plain": true, "enabled": true, "disabled": true, "production": true,
	"development": true, "staging": true, "test": true, "local": true, "include": true, "omit": true, "same-origin": true,
	"write": true, "read": true, "example": true, "changeme": true, "password": true, "token": true, "secret": true,
	"localhost": true, "unset": true, "empty": true, "missing": true, "invalid": true, "expired": true, "hidden": true,
}

// maxPlain is the longest value that can be plain. It also keeps the scan
// linear: what is longer is removed and never looked at again.
const maxPlain = 256

// references are how a value that lives elsewhere starts.
var references = []string{
	"$", "%", "<", "{", "*", "env.", "env:", "process.env", "os.environ", "os.getenv", "getenv", "ENV[", "secrets.",
	"vault:", "op://", "arn:", "file:", "ref+", "id=", "type=", "src=", "@", "-", placeholderPrefix,
}

// plainValue reports whether a value beside a secret's name is none: empty, a
// variable or another reference, a placeholder, a word about it, and for a weak
// name also a short number, a letters-only word or a piece of code.
func plainValue(v []byte, st strength) bool {
	if len(v) == 0 {
		return true
	}
	if len(v) > maxPlain {
		return false
	}
	for _, r := range references {
		if len(v) >= len(r) && string(v[:len(r)]) == r {
			return true
		}
	}
	var low [16]byte
	digits, letters, dots, call, same := 0, 0, 0, false, true
	for i, c := range v {
		if i < len(low) {
			low[i] = c
			if c >= 'A' && c <= 'Z' {
				low[i] += 'a' - 'A'
			}
		}
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '_':
			letters++
		case c == '.':
			dots++
		case c == '(':
			call = call || (i > 0 && letters+dots+digits == i)
		}
		same = same && c == v[0]
	}
	if len(v) <= len(low) && plainWords[string(low[:len(v)])] {
		return true
	}
	if same && (v[0] == '.' || v[0] == 'x' || v[0] == 'X' || v[0] == '#') {
		return true
	}
	if st != weakName {
		return false
	}
	switch {
	case call: // getToken(
		return true
	case len(v) < minRegistered, digits == len(v) && digits < 6:
		return true
	case letters == len(v) && letters <= 16: // token: Option, auth: enabled
		return true
	case dots > 0 && letters+dots == len(v): // req.headers.token
		return true
	}
	return false
}
