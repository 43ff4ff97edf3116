package netguard

import "net/netip"

// addressRange is one special-purpose range.
type addressRange struct {
	prefix netip.Prefix
	name   string
}

const rangeLoopback = "loopback"

// ranges4 is IANA's registry of special-purpose IPv4 addresses plus multicast.
// The blocks for AS112 (192.31.196.0/24, 192.175.48.0/24) and AMT
// (192.52.193.0/24) are left out: they are globally reachable.
var ranges4 = []addressRange{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "carrierGradeNat"},
	{netip.MustParsePrefix("127.0.0.0/8"), rangeLoopback},
	// The virtual host address of Azure: metadata and keys of the machine.
	{netip.MustParsePrefix("168.63.129.16/32"), "cloudMetadata"},
	{netip.MustParsePrefix("169.254.0.0/16"), "linkLocal"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"}, // 6to4 relays, withdrawn
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("255.255.255.255/32"), "broadcast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
}

// globalUnicast6 is the only IPv6 block from which public addresses are given
// out; everything else is special even if no row below names it.
var globalUnicast6 = netip.MustParsePrefix("2000::/3")

// nat64 holds IPv4 addresses as networks without IPv4 see them.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// ranges6 is IANA's registry of special-purpose IPv6 addresses.
var ranges6 = []addressRange{
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), rangeLoopback},
	{netip.MustParsePrefix("::/96"), "reserved"}, // IPv4-compatible, withdrawn
	{netip.MustParsePrefix("64:ff9b:1::/48"), "private"},
	{netip.MustParsePrefix("100::/64"), "discard"},
	{netip.MustParsePrefix("2001::/32"), "teredo"},
	{netip.MustParsePrefix("2001::/23"), "reserved"}, // protocol assignments, benchmarking, ORCHID
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("2002::/16"), "6to4"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("5f00::/16"), "reserved"},
	{netip.MustParsePrefix("fc00::/7"), "uniqueLocal"},
	{netip.MustParsePrefix("fe80::/10"), "linkLocal"},
	{netip.MustParsePrefix("fec0::/10"), "siteLocal"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}
