package netguard

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"

	"github.com/lictor-policy/lictor/internal/model"
)

// Limits of the domain name system.
const (
	maxHost  = 253
	maxLabel = 63
)

// lookup maps a name as browsers do (UTS 46, non-transitional). It leaves out
// the length, letter and hyphen rules: underscores and "r3---x" are common in
// real names, and lengths and letters are checked on the result.
var lookup = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false),
	idna.StrictDomainName(false), idna.CheckHyphens(false))

// NormalizeHost brings a host name or IP literal into its normal form: Host is
// lower-case ASCII (IDNA) without brackets and without one trailing dot; for an
// IP literal in any notation (dotted, short, decimal, octal, hex, IPv6,
// IPv4-mapped IPv6) IP and Host are the canonical address and Public says
// whether it is a public unicast address. Port is 0.
//
// Errors are *[InputError] with the field "host": empty, too long, characters
// that no host has (NUL, blanks, controls, "%", "@", "/" …), a zone identifier,
// a number that is no address.
func NormalizeHost(text string) (model.Host, error) {
	if plainName(text) {
		return model.Host{Host: text}, nil
	}
	fail := func(reason string) (model.Host, error) {
		return model.Host{}, &InputError{Field: "host", Text: text, Reason: reason}
	}
	host := text
	if len(host) > 4*maxHost {
		return fail("longer than a host name can be")
	}
	if strings.HasPrefix(host, "[") {
		inner, ok := strings.CutSuffix(host[1:], "]")
		if !ok || !strings.Contains(inner, ":") {
			return fail("brackets hold an IPv6 address and nothing else")
		}
		host = inner
	}
	if strings.Contains(host, ":") {
		return ipv6(host, fail)
	}
	if bad := badRune(host); bad != "" {
		return fail(bad)
	}
	ascii, err := lookup.ToASCII(host)
	if err == nil && strings.Contains(ascii, "xn--") {
		// The rules for right-to-left text are applied before the mapping, which can
		// bring in such letters: what was mapped must be valid itself.
		var again string
		if again, err = lookup.ToASCII(ascii); again != ascii {
			return fail("no valid international host name")
		}
	}
	if err != nil {
		return fail("no valid international host name")
	}
	ascii = strings.TrimSuffix(strings.ToLower(ascii), ".")
	if reason := badName(ascii); reason != "" {
		return fail(reason)
	}
	if !endsInNumber(ascii) {
		return model.Host{Host: ascii}, nil
	}
	addr, ok := parseIPv4(ascii)
	if !ok {
		return fail("a host whose last part is a number must be an IPv4 address")
	}
	return ipHost(addr), nil
}

// ipv6 is NormalizeHost for a text with a colon.
func ipv6(text string, fail func(string) (model.Host, error)) (model.Host, error) {
	addr, err := netip.ParseAddr(text)
	switch {
	case err != nil && strings.Count(text, ":") == 1:
		return fail("write the host alone, without a port")
	case err != nil:
		return fail("no IPv6 address; a port needs its own field, or brackets around the address")
	case addr.Zone() != "":
		return fail("an address with a zone (%…) is not accepted")
	}
	return ipHost(addr), nil
}

// ipHost is the host of an address.
func ipHost(addr netip.Addr) model.Host {
	addr = addr.Unmap()
	s := addr.String()
	return model.Host{Host: s, IP: s, Public: Public(addr)}
}

// plainName reports whether text is a host name in normal form already. It
// is the fast path: most hosts are, and no IP literal is.
func plainName(text string) bool {
	if text == "" || len(text) > maxHost {
		return false
	}
	label := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
			continue
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
		case c == '-':
			// "xn--" and other "??--" labels go through IDNA.
			if label == 3 && text[i-1] == '-' {
				return false
			}
		default:
			return false
		}
		if label++; label > maxLabel {
			return false
		}
	}
	return label > 0 && !endsInNumber(text)
}

// badRune names a character that must not even reach the IDNA mapping, which
// would drop or change it.
func badRune(host string) string {
	for _, r := range host {
		switch {
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return "control characters are not allowed"
		case r == ' ':
			return "blanks are not allowed"
		case r == 0xfffd:
			return "not valid UTF-8"
		case r < 0x80 && !hostByte(byte(r)) && (r < 'A' || r > 'Z'):
			return "the character " + quote(string(r)) + " is not allowed"
		}
	}
	return ""
}

// hostByte reports the bytes of a normal host name.
func hostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// badName names what is wrong with an ASCII name, or returns "".
func badName(name string) string {
	if name == "" {
		return "empty"
	}
	if len(name) > maxHost {
		return "longer than a host name can be"
	}
	label := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' {
			// IDNA maps some characters to ASCII ones that no host has.
			if !hostByte(name[i]) {
				return "the character " + quote(name[i:i+1]) + " is not allowed"
			}
			label++
			continue
		}
		switch {
		case label == 0:
			return "empty part between dots"
		case label > maxLabel:
			return "a part is longer than 63 characters"
		}
		label = 0
	}
	return ""
}
