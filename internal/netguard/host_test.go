package netguard

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNormalizeHost(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct{ in, host, ip string }{
		{"example.com", "example.com", ""},
		{"EXAMPLE.Com", "example.com", ""},
		{"example.com.", "example.com", ""},
		{"localhost", "localhost", ""},
		{"my_service", "my_service", ""},
		{"r3---sn-x.googlevideo.com", "r3---sn-x.googlevideo.com", ""},
		{"bücher.example", "xn--bcher-kva.example", ""},
		{"BÜCHER.example", "xn--bcher-kva.example", ""},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", ""},
		{"XN--BCHER-KVA.example", "xn--bcher-kva.example", ""},
		{"faß.de", "xn--fa-hia.de", ""},
		{"example。com", "example.com", ""},
		{"ｅｘａｍｐｌｅ．ｃｏｍ", "example.com", ""},
		{"exa\u00admple.com", "example.com", ""}, // soft hyphen: dropped by every resolver
		{"1.2.3.4.example", "1.2.3.4.example", ""},
		{"0x7f.example.com", "0x7f.example.com", ""},
		{"a" + strings.Repeat("."+long, 3), "a" + strings.Repeat("."+long, 3), ""},

		{"127.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"127.0.0.1.", "127.0.0.1", "127.0.0.1"},
		{"127.1", "127.0.0.1", "127.0.0.1"},
		{"127.0.1", "127.0.0.1", "127.0.0.1"},
		{"2130706433", "127.0.0.1", "127.0.0.1"},
		{"0x7f000001", "127.0.0.1", "127.0.0.1"},
		{"0X7F.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"0177.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"017700000001", "127.0.0.1", "127.0.0.1"},
		{"0x7f.1", "127.0.0.1", "127.0.0.1"},
		{"127.0x1", "127.0.0.1", "127.0.0.1"},
		{"0", "0.0.0.0", "0.0.0.0"},
		{"0x", "0.0.0.0", "0.0.0.0"},
		{"1.2.3.0x", "1.2.3.0", "1.2.3.0"}, // "0x" is zero for resolvers
		{"-1.1e", "-1.1e", ""},             // a label like any other
		{"4294967295", "255.255.255.255", "255.255.255.255"},
		{"１２７.０.０.１", "127.0.0.1", "127.0.0.1"},
		{"①②⑦.1", "127.0.0.1", "127.0.0.1"},
		{"8.8.8.8", "8.8.8.8", "8.8.8.8"},
		{"010.8.8.8", "8.8.8.8", "8.8.8.8"},
		{"[::1]", "::1", "::1"},
		{"::1", "::1", "::1"},
		{"[0:0:0:0:0:0:0:1]", "::1", "::1"},
		{"[::FFFF:127.0.0.1]", "127.0.0.1", "127.0.0.1"},
		{"[::ffff:7f00:1]", "127.0.0.1", "127.0.0.1"},
		{"[2001:DB8::1]", "2001:db8::1", "2001:db8::1"},
	} {
		t.Run(c.in, func(t *testing.T) {
			h, err := NormalizeHost(c.in)
			require.NoError(t, err)
			assert.Equal(t, c.host, h.Host)
			assert.Equal(t, c.ip, h.IP)
			assert.Zero(t, h.Port)
			again, err := NormalizeHost(h.Host)
			require.NoError(t, err)
			assert.Equal(t, h, again, "normal form is stable")
		})
	}
}

func TestNormalizeHostRefuses(t *testing.T) {
	for _, in := range []string{
		"", ".", "..", "example.com..", ".example.com", "a..b", "a b", " a", "a\t", "a\r\n", "evil\x00.example.com",
		"exa\x7fmple", "a%2eb", "a@b", "a/b", `a\b`, "a?b", "a#b", "a:b", "[a]", "[::1", "::1]", "[127.0.0.1]", "[]",
		"[fe80::1%eth0]", "fe80::1%1", "[::1]x", "256.0.0.1", "1.2.3.4.5", "1.256.1", "1.08", "1.2.3.09",
		"4294967296", "0x100000000", "1..1", "1.2.3.4..", "99999999999999999999999999", "a,b", "a;b", "a|b", "<a>",
		strings.Repeat("a", 64), strings.Repeat("a.", 200) + "com", strings.Repeat("x", 5000),
		"xn--a", "\xff\xfe", "Ԅℶ", "a\u0085b", "℀.com", "a\u2028b", "xn--0.pt",
	} {
		t.Run(in, func(t *testing.T) {
			h, err := NormalizeHost(in)
			var e *InputError
			require.ErrorAs(t, err, &e, "%+v", h)
			assert.Equal(t, "host", e.Field)
			assert.Empty(t, h)
		})
	}
}

func TestAddressRange(t *testing.T) {
	for in, want := range map[string]string{
		"8.8.8.8": "", "1.1.1.1": "", "192.31.196.1": "", "172.15.255.255": "", "172.32.0.0": "", "100.63.255.255": "",
		"100.128.0.0": "", "11.0.0.0": "", "9.255.255.255": "", "128.0.0.0": "", "126.255.255.255": "", "223.255.255.255": "",
		"0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "10.0.0.1": "private", "172.16.0.1": "private",
		"172.31.255.255": "private", "192.168.0.1": "private", "100.64.0.1": "carrierGradeNat", "100.100.100.200": "carrierGradeNat",
		"127.0.0.1": "loopback", "127.255.255.255": "loopback", "169.254.169.254": "linkLocal", "168.63.129.16": "cloudMetadata",
		"192.0.0.1": "reserved", "192.0.2.1": "documentation", "192.88.99.1": "reserved", "198.18.0.1": "benchmarking",
		"198.19.255.255": "benchmarking", "198.51.100.7": "documentation", "203.0.113.9": "documentation", "224.0.0.1": "multicast",
		"239.255.255.255": "multicast", "240.0.0.1": "reserved", "255.255.255.255": "broadcast",

		"2606:4700:4700::1111": "", "2a00:1450::1": "", "2620:4f:8000::1": "", "2001:200::1": "",
		"::": "unspecified", "::1": "loopback", "::7f00:1": "reserved", "::ffff:10.0.0.1": "private", "::ffff:8.8.8.8": "",
		"64:ff9b::8.8.8.8": "", "64:ff9b::10.0.0.1": "private", "64:ff9b::127.0.0.1": "loopback", "64:ff9b:1::1": "private",
		"100::1": "discard", "2001::1": "teredo", "2001:2::1": "reserved", "2001:20::1": "reserved", "2001:db8::1": "documentation",
		"2002:7f00:1::": "6to4", "3fff::1": "documentation", "5f00::1": "reserved", "fc00::1": "uniqueLocal", "fd00:ec2::254": "uniqueLocal",
		"fe80::1": "linkLocal", "fec0::1": "siteLocal", "ff02::1": "multicast", "4000::1": "reserved", "::ffff:0:8.8.8.8": "reserved",
		"fe80::1%eth0": "invalid", "2606:4700::1%1": "invalid",
	} {
		assert.Equal(t, want, AddressRange(netip.MustParseAddr(in)), in)
	}
	assert.False(t, Public(netip.Addr{}))
}

// Everything that the standard library knows to be special must be so here.
func TestPublicAgreesWithNetip(t *testing.T) {
	for i := range 1 << 16 {
		a := netip.AddrFrom4([4]byte{byte(i >> 8), byte(i), byte(i * 7), byte(i * 13)})
		special := a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified()
		if special {
			assert.False(t, Public(a), a.String())
		}
		b := netip.AddrFrom16([16]byte{byte(i >> 8), byte(i), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
		if b.IsPrivate() || b.IsMulticast() || b.IsLinkLocalUnicast() {
			assert.False(t, Public(b), b.String())
		}
	}
}

func TestCheckAddressError(t *testing.T) {
	err := CheckAddress(netip.MustParseAddr("169.254.169.254"), true)
	var e *AddressError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "linkLocal", e.Range)
	assert.EqualError(t, err, "address 169.254.169.254 is not public: linkLocal")
	assert.NoError(t, CheckAddress(netip.MustParseAddr("::1"), true))
	assert.NoError(t, CheckAddress(netip.MustParseAddr("::ffff:127.0.0.1"), true))
	assert.Error(t, CheckAddress(netip.MustParseAddr("::1"), false))
	assert.Error(t, CheckAddress(netip.Addr{}, true))
}
