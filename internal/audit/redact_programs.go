package audit

import "bytes"

// program notes the programs whose short options take a password.
func (sc *scanner) program(w []byte) {
	switch string(w) {
	case "curl", "wget", "http", "https", "xh", "hurl":
		sc.curl = true
	case "mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump":
		sc.mysql = true
	case "sshpass":
		sc.sshpass = true
	case "login":
		sc.login = true
	case "redis-cli":
		sc.redis = true
	}
}

// option handles -u user:password of curl, -pPASSWORD of mysql, -p PASSWORD of
// sshpass and logins, -a PASSWORD of redis-cli.
func (sc *scanner) option(a, b, dashes int) int {
	s, w := sc.s, sc.s[a:b]
	if sc.curl && ((dashes == 1 && w[0] == 'u') || (dashes == 2 && (string(w) == "user" || string(w) == "proxy-user"))) {
		j := b
		if dashes == 1 && len(w) > 1 {
			j = a + 1
		} else if j < len(s) && s[j] == '=' {
			j++
		}
		from, to := sc.value(j)
		if c := bytes.IndexByte(s[from:to], ':'); c >= 0 && !plainValue(s[from+c+1:to], strongName) {
			return sc.add(from+c+1, to, kindAssign)
		}
		return 0
	}
	if dashes != 1 {
		return 0
	}
	if w[0] == 'p' && (sc.mysql || sc.sshpass || sc.login) {
		j := a + 1
		if len(w) == 1 {
			if sc.mysql { // mysql -p asks
				return 0
			}
			j = b
		}
		if j < len(s) && s[j] == '=' {
			j++
		}
		if from, to := sc.value(j); !plainValue(s[from:to], strongName) {
			return sc.add(from, to, kindAssign)
		}
	}
	if sc.redis && len(w) == 1 && w[0] == 'a' {
		if from, to := sc.value(b); !plainValue(s[from:to], strongName) {
			return sc.add(from, to, kindAssign)
		}
	}
	return 0
}
