package control

import (
	"context"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/platform/throttle"
	"github.com/countersign/countersign/internal/storage/store"
)

// How often somebody may ask for a sign-in code or make a sign-in link, try one
// (contract 3), and begin a sign-in at the provider or by passkey.
var (
	codeRate  = throttle.Rate{Burst: 5, Every: 3 * time.Minute}
	tryRate   = throttle.Rate{Burst: 20, Every: 30 * time.Second}
	beginRate = throttle.Rate{Burst: 200, Every: 5 * time.Second}
)

// limitKeysInMemory bounds what a process keeps in memory of each limit.
const limitKeysInMemory = 50_000

// limit bounds how often the same key may try. An error says that the attempt could not be
// counted; it must then be refused.
type limit interface {
	Allow(ctx context.Context, key string, now time.Time) (bool, error)
	// Return takes back a counted attempt.
	Return(ctx context.Context, key string, now time.Time) error
}

// newLimit makes a limit that all processes on the store share.
func newLimit(cfg Config, st store.Store, name string, rate throttle.Rate) limit {
	own := throttle.New(rate, limitKeysInMemory)
	if !cfg.Shared {
		return ownLimit{own}
	}
	return &sharedLimit{own: own, store: st, name: name, rate: rate}
}

// ownLimit is the limit of a store with a single process.
type ownLimit struct{ *throttle.Throttle }

// Allow implements limit.
func (l ownLimit) Allow(_ context.Context, key string, now time.Time) (bool, error) {
	return l.Throttle.Allow(key, now), nil
}

// Return implements limit.
func (l ownLimit) Return(_ context.Context, key string, now time.Time) error {
	l.Throttle.Return(key, now)
	return nil
}

// count counts an attempt, and returns ErrTooMany beyond the limit. If the attempt can't be
// counted, it is refused as unavailable: otherwise somebody who disturbs the store could
// try without limit. That shuts nobody out, since a session needs the same store.
func count(ctx context.Context, l limit, key string, now time.Time) error {
	switch allowed, err := l.Allow(ctx, key, now); {
	case err != nil:
		return public(err)
	case !allowed:
		return ErrTooMany
	}
	return nil
}

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

// siteCodeRate is how often one site may ask for codes of one address. It is always more
// than one network may ask for, so that a network alone never uses it up.
var siteCodeRate = throttle.Rate{Burst: 2 * codeRate.Burst, Every: codeRate.Every / 2}

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
