package audit

// Character classes of what follows a token's prefix.
const (
	csUpperDigit = 1 << iota
	csLower
	csUnderscore
	csDash
	csDot
	csBase64 // + / =
	csTilde

	csAlnum = csUpperDigit | csLower
	csWord  = csAlnum | csUnderscore | csDash
)

var charClass = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = csUpperDigit
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = csUpperDigit
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = csLower
	}
	t['_'], t['-'], t['.'], t['~'] = csUnderscore, csDash, csDot, csTilde
	t['+'], t['/'], t['='] = csBase64, csBase64, csBase64
	return t
}()

// shape is a kind of token that is known by how it looks.
type shape struct {
	prefix string
	chars  uint8 // what may follow the prefix
	min    int   // at least so many
	mixed  bool  // a digit and a letter must be among them, so that words stay words
}

// shapes are the token formats of services that agents meet. The minimum keeps
// look-alikes ("sk-learn", "hf_hub", "SG.") readable.
var shapes = []shape{
	{"sk-", csWord, 16, true},        // OpenAI, Anthropic, OpenRouter and many others
	{"sk_live_", csAlnum, 10, false}, // Stripe
	{"sk_test_", csAlnum, 10, false}, //
	{"rk_live_", csAlnum, 10, false}, //
	{"rk_test_", csAlnum, 10, false}, //
	{"whsec_", csAlnum, 16, false},   //
	{"ghp_", csAlnum, 20, false},     // GitHub
	{"gho_", csAlnum, 20, false},     //
	{"ghu_", csAlnum, 20, false},     //
	{"ghs_", csAlnum, 20, false},     //
	{"ghr_", csAlnum, 20, false},     //
	{"github_pat_", csWord, 20, false},
	{"glpat-", csWord, 16, false}, // GitLab
	{"gldt-", csWord, 16, false},
	{"glrt-", csWord, 16, false},
	{"glsa_", csWord, 20, false}, // Grafana
	{"glc_", csWord | csBase64, 32, false},
	{"xoxb-", csWord, 10, true}, // Slack
	{"xoxp-", csWord, 10, true},
	{"xoxa-", csWord, 10, true},
	{"xoxr-", csWord, 10, true},
	{"xoxs-", csWord, 10, true},
	{"xoxe.", csWord | csDot, 10, true},
	{"xapp-", csWord, 10, true},
	{"AKIA", csUpperDigit, 16, false}, // AWS
	{"ASIA", csUpperDigit, 16, true},
	{"AIza", csWord, 30, false}, // Google
	{"ya29.", csWord, 20, false},
	{"GOCSPX-", csWord, 16, false},
	{"npm_", csAlnum, 30, false}, // registries
	{"pypi-", csWord, 32, false},
	{"rubygems_", csAlnum, 32, false},
	{"dckr_pat_", csWord, 16, false},
	{"oy2", csLower | csUpperDigit, 43, false}, // NuGet
	{"hf_", csAlnum, 24, true},                 // models
	{"xai-", csWord, 24, true},
	{"gsk_", csAlnum, 24, true},
	{"r8_", csAlnum, 24, true},
	{"pplx-", csAlnum, 24, true},
	{"SG.", csWord | csDot, 32, true}, // mail, chat, hosting
	{"key-", csLower | csUpperDigit, 32, true},
	{"shpat_", csAlnum, 24, false},
	{"shpss_", csAlnum, 24, false},
	{"dop_v1_", csAlnum, 32, false},
	{"doo_v1_", csAlnum, 32, false},
	{"lin_api_", csAlnum, 20, false},
	{"ntn_", csAlnum, 30, true},
	{"figd_", csWord, 20, true},
	{"PMAK-", csWord, 24, true},
	{"ATATT3", csWord | csBase64, 32, false},
	{"ATBB", csAlnum, 24, true},
	{"NRAK-", csAlnum, 20, false},
	{"sntrys_", csWord | csBase64, 24, true},
	{"hvs.", csWord, 20, true}, // vaults
	{"hvb.", csWord, 20, true},
	{"AGE-SECRET-KEY-1", csUpperDigit, 40, false},
	{"eyJ", csWord | csDot | csBase64, 30, true}, // JSON web tokens
	{"EAAC", csAlnum, 40, true},
	{"sq0", csWord, 24, true},
	{"tskey-", csWord, 16, true},
	{"sbp_", csAlnum, 32, true},
	{"vercel_", csAlnum, 20, true},
	{"cfut_", csWord, 24, true},
	{"ops_eyJ", csWord, 30, false},
}

// shapesBy finds shapes by their first byte; shapeStarts says whether any begins
// with two bytes.
var (
	shapesBy = func() (t [256][]shape) {
		for _, s := range shapes {
			t[s.prefix[0]] = append(t[s.prefix[0]], s)
		}
		return t
	}()
	shapeStarts = func() (t [1 << 16 / 64]uint64) {
		for _, s := range shapes {
			k := uint16(s.prefix[0])<<8 | uint16(s.prefix[1])
			t[k>>6] |= 1 << (k & 63)
		}
		return t
	}()
)

// tokenAt returns the end of a token that starts at s[i], or 0.
func tokenAt(s []byte, i int) int {
	if i+1 >= len(s) {
		return 0
	}
	if k := uint16(s[i])<<8 | uint16(s[i+1]); shapeStarts[k>>6]&(1<<(k&63)) == 0 {
		return 0
	}
	for _, sh := range shapesBy[s[i]] {
		rest := s[i:]
		if len(rest) < len(sh.prefix)+sh.min || string(rest[:len(sh.prefix)]) != sh.prefix {
			continue
		}
		j := len(sh.prefix)
		digit, letter := false, false
		for j < len(rest) && charClass[rest[j]]&sh.chars != 0 {
			if c := rest[j]; c >= '0' && c <= '9' {
				digit = true
			} else if charClass[c]&csAlnum != 0 {
				letter = true
			}
			j++
		}
		if j-len(sh.prefix) < sh.min || (sh.mixed && (!digit || !letter)) {
			continue
		}
		// A JSON web token has three parts: eyJ… alone may be any base64 JSON.
		if sh.prefix == "eyJ" && !twoDots(rest[:j]) {
			continue
		}
		return i + j
	}
	return 0
}

func twoDots(p []byte) bool {
	n := 0
	for _, c := range p {
		if c == '.' {
			n++
		}
	}
	return n >= 2
}
