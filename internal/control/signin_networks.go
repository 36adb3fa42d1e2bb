package control

import (
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/platform/throttle"
)

// askedAtSite is how often one site may ask for codes of one address. It is always more
// than one network may ask for, so that a network alone never uses it up.
var askedAtSite = throttle.Rate{Burst: 2 * asked.Burst, Every: asked.Every / 2}

// site is the first 48 bits of an IPv6 address: one subscriber may have all 65,536 networks
// in it. An IPv4 address has none, since its neighbors are other people.
func site(from string) (prefix string, ok bool) {
	addr, err := netip.ParseAddr(from)
	if err != nil || addr.Unmap().Is4() {
		return "", false
	}
	return netip.PrefixFrom(addr.WithZone(""), 48).Masked().String(), true
}

// askedFrom is the network whose mails take turns with those of others: a site, or an
// IPv4 address.
func askedFrom(from string) string {
	if prefix, ok := site(from); ok {
		return prefix
	}
	return network(from)
}

// CodeText is the mail with a code. It says who asked, for a user who didn't.
func CodeText(code, from string, at time.Time) string {
	where := "an unknown network address"
	if addr, err := netip.ParseAddr(from); err == nil {
		where = addr.Unmap().WithZone("").String()
	}
	return "Your sign-in code is " + code + ".\n\nIt was asked for from " + where + " on " + at.UTC().Format("2006-01-02 at 15:04 MST") +
		". It is good for 10 minutes, in the browser that asked for it. If you did not ask, ignore this mail: without the code nobody gets in.\n"
}
