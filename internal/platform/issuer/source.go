package issuer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Fetch reads what is at an address, in bounds.
type Fetch func(ctx context.Context, address string) (Answer, error)

// Answer is a document and when, by its own clock, the server sent it.
type Answer struct {
	Body []byte
	Date time.Time // zero where it doesn't say
}

// How an issuer is asked.
const (
	timeout    = 10 * time.Second // for its description and its keys together
	unknownKey = time.Minute      // between two questions for a key that isn't known
	failedKey  = time.Second      // after a question that failed while nothing is known
	staleKeys  = time.Hour        // after which what is known is asked for again, in the background
	deadKeys   = 24 * time.Hour   // after which it counts no more: a key that was taken back ends
)

// source has one issuer's keys. It asks for them one question at a time, whoever waits.
type source struct {
	issuer string
	fetch  Fetch
	now    func() time.Time

	mu      sync.Mutex
	keys    []key
	read    time.Time // when these were asked for
	tried   time.Time // when they were asked for last, with whatever end
	unknown time.Time // when they were asked for because of a key that wasn't known
	failure error     // of the last question
	asking  chan struct{}
}

// verify returns nil for what one of the issuer's keys has signed.
func (s *source) verify(ctx context.Context, alg, kid, signed string, signature []byte) error {
	keys, fresh, err := s.known(ctx)
	if err != nil {
		return refuse("keys", "%v", err)
	}
	said := judge(keys, alg, kid, signed, signature)
	if said != unknown || fresh {
		return said.err(alg, kid)
	}
	if err := s.again(ctx); err != nil {
		return refuse("keys", "%v", err)
	}
	s.mu.Lock()
	keys = s.keys
	s.mu.Unlock()
	return judge(keys, alg, kid, signed, signature).err(alg, kid)
}

// verdict is what the known keys say of a signature.
type verdict int

const (
	signedBy  verdict = iota
	notSigned         // the key that it names is known, and didn't make it
	unknown           // no known key is the one
)

func (v verdict) err(alg, kid string) error {
	switch {
	case v == signedBy:
		return nil
	case v == notSigned:
		return refuse("signature", "it is not by the key %.100q", kid)
	case kid == "":
		return refuse("signature", "it is by none of the issuer's keys for %s", alg)
	}
	return refuse("kid", "the issuer has no key %.100q for %s", kid, alg)
}

func judge(keys []key, alg, kid, signed string, signature []byte) verdict {
	said := unknown
	for _, k := range keys {
		if kid != "" && k.id != kid || !k.fits(alg) {
			continue
		}
		if k.verifies(alg, signed, signature) {
			return signedBy
		}
		if kid != "" {
			said = notSigned
		}
	}
	return said
}

// known are the issuer's keys; asked for, and waited for, only where none are. fresh says that
// they were asked for just now.
func (s *source) known(ctx context.Context) (keys []key, fresh bool, err error) {
	now := s.now()
	s.mu.Lock()
	age := now.Sub(s.read)
	if s.keys != nil && age < deadKeys {
		if age >= staleKeys && past(s.tried, now, unknownKey) && s.asking == nil {
			s.begin(ctx, now)
		}
		defer s.mu.Unlock()
		return s.keys, false, nil
	}
	s.keys = nil
	if s.asking == nil && s.failure != nil && !past(s.tried, now, failedKey) {
		defer s.mu.Unlock()
		return nil, false, s.failure
	}
	if s.asking == nil {
		s.begin(ctx, now)
	}
	err = s.wait(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.keys == nil {
		err = s.failure
	}
	return s.keys, true, err
}

// again asks because of a key that isn't known: at once, and then once a minute at most. Who
// comes while it is asked waits for that answer.
func (s *source) again(ctx context.Context) error {
	now := s.now()
	s.mu.Lock()
	if s.asking == nil {
		if !past(s.unknown, now, unknownKey) {
			s.mu.Unlock()
			return nil
		}
		s.unknown = now
		s.begin(ctx, now)
	}
	return s.wait(ctx)
}

// past reports that so much time is over, or that the clock was set back.
func past(since, now time.Time, by time.Duration) bool {
	return since.IsZero() || now.Before(since) || now.Sub(since) >= by
}

// begin asks the issuer. The caller holds mu, and nobody is asking.
func (s *source) begin(ctx context.Context, now time.Time) {
	done := make(chan struct{})
	s.asking, s.tried = done, now
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		keys, _, err := ask(ctx, s.fetch, s.issuer)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.asking, s.failure = nil, err; err == nil {
			s.keys, s.read = keys, now
		}
		close(done)
	}()
}

// wait gives mu back, and waits for the question under way.
func (s *source) wait(ctx context.Context) error {
	done := s.asking
	s.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask reads an issuer's description, and its keys where that says they are. date is when the issuer
// answered, by its clock.
func ask(ctx context.Context, fetch Fetch, issuer string) (keys []key, date time.Time, err error) {
	described, err := fetch(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, date, fmt.Errorf("its description: %w", err)
	}
	var m members
	if json.Unmarshal(described.Body, &m) != nil {
		return nil, date, errors.New("its description is no JSON object")
	}
	if named, _ := m.text("issuer"); named != issuer {
		return nil, date, fmt.Errorf("it describes itself as %.200q", named)
	}
	address, _ := m.text("jwks_uri")
	if err := checkKeysAddress(issuer, address); err != nil {
		return nil, date, err
	}
	set, err := fetch(ctx, address)
	if err != nil {
		return nil, date, fmt.Errorf("its keys: %w", err)
	}
	keys, err = parseKeys(set.Body)
	return keys, described.Date, err
}

// checkKeysAddress: keys may be at another host, over TLS; over plain http only at the listed
// address itself.
func checkKeysAddress(issuer, address string) error {
	of, errIssuer := url.Parse(issuer)
	u, err := url.Parse(address)
	if err != nil || errIssuer != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || of.Scheme != "http" || u.Host != of.Host) {
		return fmt.Errorf("its jwks_uri %.200q is no https address", address)
	}
	return nil
}

// hostsOf are the hosts of the listed issuers.
func hostsOf(entries []Entry) (hosts []string) {
	for _, e := range entries {
		if u, err := url.Parse(e.Issuer); err == nil && !slices.Contains(hosts, u.Hostname()) {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}
