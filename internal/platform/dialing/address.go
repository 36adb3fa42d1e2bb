// Package dialing says which network addresses may be dialed for a host. It is pure.
package dialing

import "net/netip"

// The operator's origin list is the trust decision, so private addresses may be
// dialled for a listed name: internal APIs live there. What no project API lives
// at, but a name could be pointed to, is refused (contract 8).
var refusedRanges = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),      // this network, and unspecified
	netip.MustParsePrefix("169.254.0.0/16"), // link-local, with most clouds' metadata
	netip.MustParsePrefix("224.0.0.0/4"),    // multicast
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, and broadcast
	netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("ff00::/8"),

	netip.MustParsePrefix("100.100.100.200/32"), // metadata: Alibaba Cloud
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle Cloud, classic
	netip.MustParsePrefix("fd00:ec2::254/128"),  // Amazon
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
	netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"),
}

// Ranges whose addresses carry an IPv4 address inside, and where it begins.
var embeddings = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},   // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12}, // NAT64 of one's own
	{netip.MustParsePrefix("2002::/16"), 2},       // 6to4
	{netip.MustParsePrefix("::/96"), 12},          // IPv4-compatible
}

// Allowed reports whether a connection to ip may be made for an origin with this
// host. An address that the operator listed as a literal is trusted as it is.
func Allowed(ip netip.Addr, host string) bool {
	ip = ip.WithZone("").Unmap()
	if literal, err := netip.ParseAddr(host); err == nil && literal.Unmap() == ip {
		return true
	}
	if ip == netip.IPv6Loopback() || ip.Is4() && ip.IsLoopback() {
		return host == "localhost"
	}
	if inner, ok := embedded(ip); ok && (inner.IsLoopback() || isRefused(inner)) {
		return false
	}
	return !isRefused(ip)
}

func isRefused(ip netip.Addr) bool {
	for _, r := range refusedRanges {
		if r.Contains(ip) {
			return true
		}
	}
	return false
}

// embedded is the IPv4 address that a translator or tunnel would go on to.
func embedded(ip netip.Addr) (netip.Addr, bool) {
	if !ip.Is6() {
		return netip.Addr{}, false
	}
	bytes := ip.As16()
	for _, e := range embeddings {
		if e.prefix.Contains(ip) {
			return netip.AddrFrom4([4]byte(bytes[e.at : e.at+4])), true
		}
	}
	return netip.Addr{}, false
}
