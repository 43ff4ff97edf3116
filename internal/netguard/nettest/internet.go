// Package nettest is a small internet on loopback, and what package managers
// find in it. It is for tests.
package nettest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Internet is one server at the ports 80 and 443 of every host. As a dialer it
// leads there, whatever the address.
type Internet struct {
	// Plain and Secure are the addresses where the server really listens.
	Plain, Secure string
	// CA is the authority (PEM) of the certificate for *.site.test,
	// *.registry.test and *.public.test.
	CA []byte

	other  http.HandlerFunc
	mu     sync.Mutex
	handle map[string]http.HandlerFunc // by host
	hits   map[string]int              // by host
}

// New starts it for a test. other answers for the hosts that On does not name.
func New(t testing.TB, other http.HandlerFunc) *Internet {
	t.Helper()
	n := &Internet{other: other, handle: map[string]http.HandlerFunc{}, hits: map[string]int{}}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lictor test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"*.site.test", "*.registry.test", "*.public.test"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	n.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})

	plain := httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(n.serve))
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	n.Plain, n.Secure = plain.Listener.Addr().String(), secure.Listener.Addr().String()
	return n
}

func (n *Internet) serve(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	n.mu.Lock()
	n.hits[host]++
	h := n.handle[host]
	n.mu.Unlock()
	if h == nil {
		h = n.other
	}
	h(w, r)
}

// On sets what a host answers.
func (n *Internet) On(host string, h http.HandlerFunc) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handle[host] = h
}

// Reached is how many requests came for a host.
func (n *Internet) Reached(host string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hits[host]
}

// DialContext dials the server.
func (n *Internet) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	to := n.Plain
	if strings.HasSuffix(address, ":443") {
		to = n.Secure
	}
	var d net.Dialer
	return d.DialContext(ctx, network, to)
}
