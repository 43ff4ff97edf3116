package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// Limits of a line. A text is cut where it is longer, so that no event can fill
// the disk or the reader's memory; maxLine is what a reader accepts.
const (
	maxLine       = 1 << 20
	maxShort      = 256       // names and ids
	maxField      = 2 << 10   // reasons, paths, errors
	maxArgText    = 16 << 10  // one string of the arguments
	maxArgs       = 128 << 10 // all arguments
	maxArgDepth   = 100
	maxRedactions = 32
	maxHits       = 16
	// cutMargin is how far past a cut the redactor looks, so that a secret on the
	// border is seen whole. Private keys are longer: their start suffices.
	cutMargin = 4 << 10
)

// The fixed frame of a line.
const (
	lineStart  = `{"v":1,"seq":`
	hashMember = `,"hash":"`
	hexLen     = 2 * sha256.Size
	// suffixLen is the length of `,"hash":"<64 hex>"}`.
	suffixLen = len(hashMember) + hexLen + 2
	timeForm  = wholeForm + "000000000Z"
	wholeForm = "2006-01-02T15:04:05."
)

// genesis is the prev of the first line of a segment.
var genesis = func() (z [hexLen]byte) {
	for i := range z {
		z[i] = '0'
	}
	return z
}()

// encoder turns events into lines. It keeps its memory between events and
// allocates nothing once it is warm, but for the rare events of the log itself.
type encoder struct {
	red     *Redactor
	scan    scanner
	buf     []byte
	text    []byte // a text before redaction
	removed []removal
	more    int
	cut     bool
	lossy   bool
	field   string // the key being written, for removals
	// stamp is wholeForm for one second, which many events share.
	stamp  []byte
	second int64
}

// time appends a time in timeForm.
func (enc *encoder) time(b []byte, at time.Time) []byte {
	if s := at.Unix(); s != enc.second || len(enc.stamp) == 0 {
		enc.stamp = at.UTC().AppendFormat(enc.stamp[:0], wholeForm)
		enc.second = s
	}
	b = append(b, enc.stamp...)
	digits := len(b)
	b = append(b, "000000000Z"...)
	for i, n := digits+8, at.Nanosecond(); n > 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}

type removal struct {
	field, kind string
	n           int
	mac         [16]byte
}

// encode returns the line of e, with its newline, and stores its hash (hex) in
// next. seq, segment id and prev are the chain's. The line is valid until the
// next call.
func (enc *encoder) encode(e *Event, seq uint64, at time.Time, seg string, prev, next *[hexLen]byte) []byte {
	enc.removed, enc.more, enc.cut, enc.lossy = enc.removed[:0], 0, false, false
	b := append(enc.buf[:0], lineStart...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, `,"ts":"`...)
	b = enc.time(b, at)
	b = append(b, `","seg":"`...)
	b = append(b, seg...)
	b = append(b, '"')
	enc.buf = b

	enc.plain("type", string(e.Type))
	enc.str("tool", e.Tool, maxShort)
	enc.plain("decision", string(e.Class))
	enc.plain("risk", string(e.Risk))
	enc.plain("by", e.By)
	enc.plain("kind", e.Kind)
	enc.plain("step", e.Step)
	enc.str("reason", e.Reason, maxField)
	enc.rule(e)
	enc.str("revision", e.Revision, maxShort)
	enc.hits(e.Hits)
	enc.str("call", e.CallID, maxShort)
	enc.str("agent", e.Agent, maxShort)
	enc.plain("mode", string(e.Mode))
	enc.plain("isolation", string(e.Isolation))
	enc.plain("shell", string(e.Shell))
	enc.str("cwd", e.Cwd, maxField)
	enc.plain("target_kind", string(e.TargetKind))
	enc.str("target", e.Target, maxField)
	enc.flag("outside_sandbox", e.OutsideSandbox)
	enc.boolean("read_only", e.ReadOnly)
	enc.flag("always_ask", e.AlwaysAsk)
	enc.args(e)
	enc.plain("answer", e.Answer)
	enc.flag("observed", e.Observed)
	enc.shadow(e.Shadow)
	enc.number("intent", int64(e.Intent), e.Intent != 0)
	enc.plain("intent_seg", e.IntentSegment)
	enc.boolean("ran", e.Ran)
	enc.flag("blocked", e.Blocked)
	if e.Exit != nil {
		enc.number("exit", int64(*e.Exit), true)
	}
	enc.number("duration_ns", int64(e.Duration), e.Duration != 0)
	enc.str("error", e.Error, maxField)
	enc.system(e.System)
	enc.redactions()
	enc.flag("cut", enc.cut)
	if enc.lossy || enc.cut {
		mac := enc.red.mac(e.Args)
		enc.key("args_mac")
		enc.buf = append(enc.buf, '"')
		enc.buf = hex.AppendEncode(enc.buf, mac[:])
		enc.buf = append(enc.buf, '"')
	}

	b = append(enc.buf, `,"prev":"`...)
	b = append(b, prev[:]...)
	b = append(b, '"')
	sum := sha256.Sum256(b)
	hex.Encode(next[:], sum[:])
	b = append(b, hashMember...)
	b = append(b, next[:]...)
	b = append(b, '"', '}', '\n')
	enc.buf = b
	return b
}

func (enc *encoder) key(name string) {
	enc.field = name
	enc.buf = append(enc.buf, ',', '"')
	enc.buf = append(enc.buf, name...)
	enc.buf = append(enc.buf, '"', ':')
}

// plain writes a word of lictor's own vocabulary. It is escaped and cut like
// any other text, but never a secret.
func (enc *encoder) plain(name, v string) {
	if v == "" {
		return
	}
	enc.key(name)
	enc.text = append(enc.text[:0], v[:min(len(v), maxShort)]...)
	enc.buf = append(enc.buf, '"')
	enc.buf, _ = appendText(enc.buf, enc.text)
	enc.buf = append(enc.buf, '"')
}

// str writes a text that may hold a secret.
func (enc *encoder) str(name, v string, limit int) {
	if v == "" {
		return
	}
	enc.key(name)
	enc.value(v, limit)
}

func (enc *encoder) value(v string, limit int) {
	enc.text = append(enc.text[:0], v[:min(len(v), limit+cutMargin)]...)
	enc.secretText(enc.text, limit, len(v))
}

// secretText writes p as a JSON string without its secrets, cut at limit bytes;
// full is the length of the text of which p is the beginning.
func (enc *encoder) secretText(p []byte, limit, full int) {
	spans := enc.scan.scan(enc.red, p)
	end := len(p)
	cut := full > limit
	if cut {
		end = limit
		for end > 0 && !utf8.RuneStart(p[end]) && limit-end < utf8.UTFMax {
			end--
		}
		for _, sp := range spans { // never leave half a secret
			if sp.from < end && sp.to > end {
				end = sp.from
			}
		}
	}
	enc.buf = append(enc.buf, '"')
	at := 0
	for _, sp := range spans {
		if sp.from >= end {
			break
		}
		enc.plainText(p[at:sp.from])
		enc.remove(p[sp.from:sp.to], sp.kind)
		at = sp.to
	}
	enc.plainText(p[min(at, end):end])
	if cut {
		enc.cut = true
		enc.buf = append(enc.buf, "…[cut "...)
		enc.buf = strconv.AppendInt(enc.buf, int64(full-end), 10)
		enc.buf = append(enc.buf, " bytes]"...)
	}
	enc.buf = append(enc.buf, '"')
}

func (enc *encoder) plainText(p []byte) {
	var lossy bool
	enc.buf, lossy = appendText(enc.buf, p)
	enc.lossy = enc.lossy || lossy
}

// remove writes the placeholder of a secret and notes what it was.
func (enc *encoder) remove(secret []byte, kind string) {
	mac := enc.red.mac(secret)
	enc.buf = appendPlaceholder(enc.buf, kind, mac[:])
	if len(enc.removed) == maxRedactions {
		enc.more++
		return
	}
	enc.removed = append(enc.removed, removal{enc.field, kind, len(secret), mac})
}

func (enc *encoder) flag(name string, v bool) {
	if v {
		enc.key(name)
		enc.buf = append(enc.buf, "true"...)
	}
}

func (enc *encoder) boolean(name string, v *bool) {
	if v != nil {
		enc.key(name)
		enc.buf = strconv.AppendBool(enc.buf, *v)
	}
}

func (enc *encoder) number(name string, v int64, set bool) {
	if set {
		enc.key(name)
		enc.buf = strconv.AppendInt(enc.buf, v, 10)
	}
}

// member writes a member of a nested object; first leaves the comma out.
func (enc *encoder) member(name, v string, limit int, first bool) {
	if !first {
		enc.buf = append(enc.buf, ',')
	}
	enc.buf = append(enc.buf, '"')
	enc.buf = append(enc.buf, name...)
	enc.buf = append(enc.buf, '"', ':')
	enc.value(v, limit)
}

func (enc *encoder) rule(e *Event) {
	if e.Rule == nil {
		return
	}
	enc.key("rule")
	enc.buf = append(enc.buf, '{')
	enc.member("text", e.Rule.Text, maxField, true)
	enc.member("effect", e.Rule.Effect, maxShort, false)
	enc.member("source", e.Rule.Source, maxField, false)
	enc.buf = append(enc.buf, '}')
}

func (enc *encoder) shadow(s *Shadow) {
	if s == nil {
		return
	}
	enc.key("shadow")
	enc.buf = append(enc.buf, '{')
	enc.member("policy", s.Policy, maxField, true)
	enc.member("decision", string(s.Class), maxShort, false)
	if s.By != "" {
		enc.member("by", s.By, maxShort, false)
	}
	if s.Reason != "" {
		enc.member("reason", s.Reason, maxField, false)
	}
	if s.Looser {
		enc.buf = append(enc.buf, `,"looser":true`...)
	}
	enc.buf = append(enc.buf, '}')
}

func (enc *encoder) hits(hits []string) {
	if len(hits) == 0 {
		return
	}
	enc.key("hits")
	for i, h := range hits[:min(len(hits), maxHits)] {
		enc.buf = append(enc.buf, "[,"[min(i, 1)])
		enc.value(h, maxShort)
	}
	enc.buf = append(enc.buf, ']')
}

// system goes through encoding/json: the log's own events are rare.
func (enc *encoder) system(s *System) {
	if s == nil {
		return
	}
	raw, err := json.Marshal(s)
	if err != nil { // impossible: System holds strings and numbers
		raw = []byte("{}")
	}
	enc.key("system")
	enc.walk(raw)
}

func (enc *encoder) args(e *Event) {
	raw := bytes.TrimSpace(e.Args)
	if len(raw) == 0 {
		return
	}
	start := len(enc.buf)
	enc.key("args")
	if e.ArgsText || len(raw) > maxLine || !json.Valid(raw) || !enc.walk(raw) {
		// Not JSON (an input error), or more than can be looked at: as a text.
		enc.buf = enc.buf[:start]
		enc.key("args")
		enc.text = append(enc.text[:0], raw[:min(len(raw), maxArgText+cutMargin)]...)
		enc.secretText(enc.text, maxArgText, len(raw))
		enc.flag("args_text", true)
	}
}

func (enc *encoder) redactions() {
	if len(enc.removed) == 0 {
		return
	}
	enc.key("redactions")
	for i := range enc.removed {
		r := &enc.removed[i]
		enc.buf = append(enc.buf, "[,"[min(i, 1)])
		enc.buf = append(enc.buf, `{"field":"`...)
		enc.buf = append(enc.buf, r.field...)
		enc.buf = append(enc.buf, `","kind":"`...)
		enc.buf = append(enc.buf, r.kind...)
		enc.buf = append(enc.buf, `","len":`...)
		enc.buf = strconv.AppendInt(enc.buf, int64(r.n), 10)
		enc.buf = append(enc.buf, `,"mac":"`...)
		enc.buf = hex.AppendEncode(enc.buf, r.mac[:])
		enc.buf = append(enc.buf, `"}`...)
	}
	enc.buf = append(enc.buf, ']')
	enc.number("redactions_more", int64(enc.more), enc.more > 0)
}
