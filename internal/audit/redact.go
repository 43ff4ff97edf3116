package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Kinds of secret, as they appear in a placeholder and in Redaction.Kind.
const (
	kindEnv        = "env"        // the value of an environment variable with a secret's name
	kindRegistered = "registered" // added with RegisterSecret
	kindToken      = "token"      // the shape of a known kind of token
	kindAssign     = "assignment" // password=…, --token …, "secret": "…"
	kindHeader     = "header"     // Authorization: …, Cookie: …
	kindURL        = "url"        // userinfo or query of a URL
	kindKey        = "key"        // a private key in PEM
)

// placeholderPrefix starts what stands where a secret stood:
// REDACTED-<kind>-<8 hex digits of its MAC>. It is one plain word in a shell, in
// JSON and in a URL, so that a redacted command still parses as it did.
const placeholderPrefix = "REDACTED-"

// minRegistered is the shortest secret that can be registered: a shorter one
// would tear holes into every line.
const minRegistered = 4

// Redactor finds secrets in texts. It is safe for concurrent use.
type Redactor struct {
	literals atomic.Pointer[literals]
	mu       sync.Mutex // serialises additions
	macs     sync.Pool
}

// NewRedactor returns a redactor that knows the secrets of an environment
// ("NAME=value" entries, as os.Environ gives them). key is the log's secret for
// the MACs of what is removed.
func NewRedactor(key []byte, environ []string) *Redactor {
	r := &Redactor{}
	key = append([]byte(nil), key...)
	r.macs.New = func() any { return hmac.New(sha256.New, key) }
	r.literals.Store(newLiterals(environSecrets(environ)))
	return r
}

// RegisterSecret adds a value that must never be written, whatever it looks
// like, in its usual encodings too (percent, base64, JSON). The error says that
// it is too short (fewer than 4 bytes) to be removed safely.
func (r *Redactor) RegisterSecret(value string) error {
	if len(value) < minRegistered {
		return errors.New("audit: a secret of fewer than 4 bytes cannot be redacted; use a longer one")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.literals.Load()
	for _, lit := range old.all {
		if lit.text == value {
			return nil
		}
	}
	r.literals.Store(newLiterals(append(old.all[:len(old.all):len(old.all)], spellings(value, kindRegistered)...)))
	return nil
}

// String returns s without its secrets.
func (r *Redactor) String(s string) string {
	var sc scanner
	spans := sc.scan(r, []byte(s))
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.from])
		mac := r.mac([]byte(s[sp.from:sp.to]))
		b.Write(appendPlaceholder(nil, sp.kind, mac[:]))
		at = sp.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// mac is the keyed hash of a removed text.
func (r *Redactor) mac(p []byte) (out [16]byte) {
	h := r.macs.Get().(hash.Hash)
	h.Reset()
	h.Write(p)
	var full [sha256.Size]byte
	copy(out[:], h.Sum(full[:0]))
	r.macs.Put(h)
	return out
}

// SecretMAC is the MAC that a log with this key writes for a secret, as in
// Redaction.MAC: it shows to the owner of the log whether a known secret is the
// one that was removed.
func SecretMAC(key []byte, secret string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(secret))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func appendPlaceholder(dst []byte, kind string, mac []byte) []byte {
	dst = append(dst, placeholderPrefix...)
	dst = append(dst, kind...)
	dst = append(dst, '-')
	return hex.AppendEncode(dst, mac[:4])
}

// span is a secret in a text.
type span struct {
	from, to int
	kind     string
}

// mergeSpans sorts spans and joins those that overlap; the first one's kind stays.
func mergeSpans(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	// Nearly sorted and short: two passes over one text made them.
	for i := 1; i < len(spans); i++ {
		for j := i; j > 0 && spans[j].from < spans[j-1].from; j-- {
			spans[j], spans[j-1] = spans[j-1], spans[j]
		}
	}
	out := spans[:1]
	for _, sp := range spans[1:] {
		last := &out[len(out)-1]
		if sp.from < last.to {
			last.to = max(last.to, sp.to)
			continue
		}
		out = append(out, sp)
	}
	return out
}

// literals are known secrets, found by their first two bytes.
type literals struct {
	all     []literal
	starts  [1 << 16 / 64]uint64
	byStart map[uint16][]literal
}

type literal struct{ text, kind string }

func newLiterals(all []literal) *literals {
	l := &literals{all: all, byStart: make(map[uint16][]literal)}
	for _, lit := range all {
		k := uint16(lit.text[0])<<8 | uint16(lit.text[1])
		l.starts[k>>6] |= 1 << (k & 63)
		l.byStart[k] = append(l.byStart[k], lit)
	}
	for _, list := range l.byStart { // the longest match wins
		sort.SliceStable(list, func(i, j int) bool { return len(list[i].text) > len(list[j].text) })
	}
	return l
}

// find appends the spans of every literal in s.
func (l *literals) find(spans []span, s []byte) []span {
	if len(l.all) == 0 {
		return spans
	}
	for i := 0; i+1 < len(s); i++ {
		k := uint16(s[i])<<8 | uint16(s[i+1])
		if l.starts[k>>6]&(1<<(k&63)) == 0 {
			continue
		}
		for _, lit := range l.byStart[k] {
			if len(s)-i >= len(lit.text) && string(s[i:i+len(lit.text)]) == lit.text {
				spans = append(spans, span{i, i + len(lit.text), lit.kind})
				i += len(lit.text) - 1
				break
			}
		}
	}
	return spans
}
