package netguard

import "net/netip"

// Public reports whether an address is a public unicast address: outside every
// range of the table in address_table.go. IPv4 inside IPv6 (mapped, NAT64) is
// judged by the IPv4 address. An invalid address and one with a zone are not
// public.
func Public(addr netip.Addr) bool { return AddressRange(addr) == "" }

// AddressRange names the special-purpose range of an address ("private",
// "loopback", "linkLocal" …), or returns "" for a public unicast address.
func AddressRange(addr netip.Addr) string {
	if !addr.IsValid() || addr.Zone() != "" {
		return "invalid"
	}
	addr = addr.Unmap()
	if addr.Is4() {
		return find(ranges4, addr)
	}
	if nat64.Contains(addr) {
		b := addr.As16()
		return AddressRange(netip.AddrFrom4([4]byte(b[12:])))
	}
	if name := find(ranges6, addr); name != "" {
		return name
	}
	if !globalUnicast6.Contains(addr) {
		return "reserved"
	}
	return ""
}

// find is the name of the first range that holds addr.
func find(table []addressRange, addr netip.Addr) string {
	for i := range table {
		if table[i].prefix.Contains(addr) {
			return table[i].name
		}
	}
	return ""
}

// CheckAddress says whether a connection to addr is acceptable: a public
// unicast address, or with allowLocalhost a loopback address. Nothing opens the
// other ranges, whatever the settings say.
//
// The error is *[AddressError].
func CheckAddress(addr netip.Addr, allowLocalhost bool) error {
	name := AddressRange(addr)
	if name == "" || name == rangeLoopback && allowLocalhost {
		return nil
	}
	return &AddressError{Addr: addr.Unmap().String(), Range: name}
}
