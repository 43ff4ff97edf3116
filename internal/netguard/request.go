package netguard

import (
	"strconv"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Via is the way in which a client asked the proxy.
type Via string

// The three protocols that the proxy speaks on its one port.
const (
	ViaConnect Via = "connect"
	ViaHTTP    Via = "http"
	ViaSOCKS5  Via = "socks5"
)

// Request is a connection that a client wants.
type Request struct {
	// Host is the name that was asked for, in normal form, with its port. It is
	// never an IP literal: those are refused before anybody is asked.
	model.Host
	// Via is the protocol.
	Via Via
	// Method and URL are set for absolute-form HTTP only; URL is in normal form.
	Method, URL string
}

// Target is the host and port as people write it: "example.com:443".
func (r Request) Target() string { return hostPort(r.Host) }

// TargetURL is the URL that stands for the request in the chain (SPEC section 9:
// tool network with a url target): the URL itself for plain HTTP, else
// "https://host/", or "http://host/" for port 80.
func (r Request) TargetURL() string {
	if r.URL != "" {
		return r.URL
	}
	scheme := "https"
	if r.Port == 80 {
		scheme = "http"
	}
	return scheme + "://" + authorityText(r.Host, scheme) + "/"
}

// Decision is the answer to a Request.
type Decision struct {
	Allowed bool
	// Reason says in one line why a request is blocked ("not on the list"), and may
	// say why one is allowed.
	Reason string
	// Hint says what a person can do ("allow it with network(example.com)"), or "".
	Hint string
	// By and Rule are for the record: what decided ("port", "policy", "rule",
	// "listed", or what the chain says) and the text of the rule, if one did.
	By, Rule string
	// NonPublic lets the host resolve to addresses that are not public. Link-local
	// addresses and cloud metadata stay closed.
	NonPublic bool
}

// AllowHint is the hint for a host that no rule speaks of.
func AllowHint(host string) string { return "allow it with network(" + host + ")" }

// hostPort writes host and port.
func hostPort(h model.Host) string {
	host := h.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(h.Port)
}
