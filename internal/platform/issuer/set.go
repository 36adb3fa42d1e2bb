package issuer

import (
	"context"
	"slices"
	"time"
)

// Config is what a set of issuers needs.
type Config struct {
	Entries  []Entry
	Resource string // what a token is for: this service's public address, without a slash at its end
	Fetch    Fetch
	Now      func() time.Time
}

// Set is the listed issuers.
type Set struct {
	cfg     Config
	sources map[string]*source
}

// New makes a set. No issuer is asked before a token of it comes.
func New(cfg Config) *Set {
	s := &Set{cfg: cfg, sources: map[string]*source{}}
	for _, e := range cfg.Entries {
		s.sources[e.Issuer] = &source{issuer: e.Issuer, fetch: cfg.Fetch, now: cfg.Now}
	}
	return s
}

// Issuers are the addresses of the listed issuers, in the order of the list; none of no set.
func (s *Set) Issuers() (all []string) {
	if s == nil {
		return nil
	}
	for _, e := range s.cfg.Entries {
		if !slices.Contains(all, e.Issuer) {
			all = append(all, e.Issuer)
		}
	}
	return all
}

// Verify says what a token says that is shown at a door (the path of one, "" for the API); a
// *RefusedError for one that isn't good there. What costs nothing is looked at first, so that no
// token which is wrong in itself makes an issuer be asked.
func (s *Set) Verify(ctx context.Context, raw, door string) (t Token, err error) {
	p, err := parse(raw)
	if err != nil {
		return t, err
	}
	alg, kid, err := p.checkHeader()
	if err != nil {
		return t, err
	}
	iss, _ := p.claims.text("iss")
	from := s.sources[iss]
	if from == nil {
		return t, refuse("iss", "%.200q is not listed", iss)
	}
	if _, is := p.claims["at_hash"]; is {
		return t, refuse("at_hash", "this is an ID token, which is for whoever signed somebody in, and no access token")
	}
	ends, err := p.checkTimes(s.cfg.Now())
	if err != nil {
		return t, err
	}
	if err := p.checkAudience(s.cfg.Resource, door); err != nil {
		return t, err
	}
	entry, err := p.entryOf(slices.DeleteFunc(slices.Clone(s.cfg.Entries), func(e Entry) bool { return e.Issuer != iss }))
	if err != nil {
		return t, err
	}
	if err := from.verify(ctx, alg, kid, p.signed, p.signature); err != nil {
		return t, err
	}
	t = p.said()
	t.Issuer, t.Tenant, t.ExpiresAt = iss, entry.Tenant, ends
	return t, nil
}

// Found is what an issuer answered to a question of an operator.
type Found struct {
	Issuer string
	Keys   int
	Ahead  time.Duration // of its clock before ours; 0 where it doesn't say
	Err    error
}

// Examine asks an issuer for its keys.
func Examine(ctx context.Context, fetch Fetch, now func() time.Time, issuer string) Found {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	keys, date, err := ask(ctx, fetch, issuer)
	f := Found{Issuer: issuer, Keys: len(keys), Err: err}
	if !date.IsZero() {
		f.Ahead = date.Sub(now()).Round(time.Second)
	}
	return f
}

// Skew is how far an issuer's clock may be from ours.
const Skew = skew
