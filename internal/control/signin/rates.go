package signin

import (
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/platform/throttle"
)

// How often somebody may ask for a sign-in code or make a sign-in link, try one
// (contract 3), and begin a sign-in at the provider or by passkey.
var (
	codeRate  = throttle.Rate{Burst: 5, Every: 3 * time.Minute}
	tryRate   = throttle.Rate{Burst: 20, Every: 30 * time.Second}
	beginRate = throttle.Rate{Burst: 200, Every: 5 * time.Second}
)

// siteCodeRate is how often one site may ask for codes of one address. It is always more
// than one network may ask for, so that a network alone never uses it up.
var siteCodeRate = throttle.Rate{Burst: 2 * codeRate.Burst, Every: codeRate.Every / 2}

// network returns the unit that attempts are counted by: a single IPv4 address, or the first
// 64 bits of an IPv6 address, of which a subscriber has all others.
func network(from string) string {
	addr, err := netip.ParseAddr(from)
	if err != nil {
		return from
	}
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}

// site is the first 48 bits of an IPv6 address: one subscriber may have all 65,536 networks
// in it. An IPv4 address has none, since its neighbors are other people.
func site(from string) (prefix string, ok bool) {
	addr, err := netip.ParseAddr(from)
	if err != nil || addr.Unmap().Is4() {
		return "", false
	}
	return netip.PrefixFrom(addr.WithZone(""), 48).Masked().String(), true
}

// mailNetwork is the network whose mails take turns with those of others: a site, or an
// IPv4 address.
func mailNetwork(from string) string {
	if prefix, ok := site(from); ok {
		return prefix
	}
	return network(from)
}
