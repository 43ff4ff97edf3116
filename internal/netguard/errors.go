package netguard

import (
	"fmt"
	"strconv"
)

// InputError says that a text is no URL, host or host pattern that lictor
// accepts. For a call's argument it is an input error (SPEC section 1).
type InputError struct {
	// Field is the part that is wrong: "scheme", "user", "host", "port", "path"
	// or "url".
	Field string
	// Text is the whole text as given.
	Text string
	// Reason says what is wrong and what to do.
	Reason string
}

// Error names the text, the field and the reason.
func (e *InputError) Error() string {
	return fmt.Sprintf("%s: %s: %s", quote(e.Text), e.Field, e.Reason)
}

// AddressError says that an address may not be reached.
type AddressError struct {
	// Host is the host that was asked for; it may be empty.
	Host string
	// Addr is the address in canonical form; empty for the name localhost.
	Addr string
	// Range is the name of the special-purpose range: "private", "loopback",
	// "linkLocal" …
	Range string
}

// Error names the address and its range.
func (e *AddressError) Error() string {
	switch {
	case e.Addr == "":
		return fmt.Sprintf("host %s is not public: %s", quote(e.Host), e.Range)
	case e.Host == "" || e.Host == e.Addr:
		return fmt.Sprintf("address %s is not public: %s", e.Addr, e.Range)
	}
	return fmt.Sprintf("host %s: address %s is not public: %s", quote(e.Host), e.Addr, e.Range)
}

// quote shows a text of any content and length on one line.
func quote(s string) string {
	const keep = 120
	if len(s) > 2*keep {
		s = s[:keep] + "…" + s[len(s)-keep:]
	}
	return strconv.QuoteToGraphic(s)
}
