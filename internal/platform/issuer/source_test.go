package issuer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/testing/issuertest"
)

// bed is a set whose one issuer a test answers for.
type bed struct {
	t    *testing.T
	set  *issuer.Set
	keys map[string]*issuertest.Key
	now  time.Time

	mu      sync.Mutex
	more    []map[string]any
	named   string
	at      string
	failure error
	slow    bool
	gone    bool
	raw     string // instead of its description, and of its keys
	rawKeys string
	asked   int
}

func newBed(t *testing.T, algorithms ...string) *bed {
	t.Helper()
	return newBedOf(t, []issuer.Entry{{Tenant: "acme", Issuer: address}}, algorithms...)
}

func newBedOf(t *testing.T, entries []issuer.Entry, algorithms ...string) *bed {
	t.Helper()
	b := &bed{t: t, keys: map[string]*issuertest.Key{}, now: noon, named: address, at: address + "/keys"}
	for _, alg := range algorithms {
		b.keys[alg] = issuertest.NewKey(t, alg, "key-"+alg)
	}
	b.set = issuer.New(issuer.Config{Entries: entries, Resource: resource, Fetch: b.fetch, Now: func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}})
	return b
}

func (b *bed) fetch(ctx context.Context, at string) (issuer.Answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slow {
		b.asked++
		b.mu.Unlock()
		<-ctx.Done()
		b.mu.Lock()
		return issuer.Answer{}, ctx.Err()
	}
	var doc any
	switch at {
	case address + "/.well-known/openid-configuration":
		if b.gone {
			return issuer.Answer{}, fmt.Errorf("nothing at %s", at)
		}
		if b.raw != "" {
			return issuer.Answer{Body: []byte(b.raw)}, nil
		}
		doc = map[string]any{"issuer": b.named, "jwks_uri": b.at}
	case b.at:
		b.asked++
		if b.failure != nil {
			return issuer.Answer{}, b.failure
		}
		if b.rawKeys != "" {
			return issuer.Answer{Body: []byte(b.rawKeys)}, nil
		}
		set := slices.Clone(b.more)
		for _, name := range slices.Sorted(maps.Keys(b.keys)) {
			set = append(set, b.keys[name].Public())
		}
		doc = map[string]any{"keys": set}
	default:
		return issuer.Answer{}, fmt.Errorf("nothing at %s", at)
	}
	text, err := json.Marshal(doc)
	return issuer.Answer{Body: text}, err
}

func (b *bed) do(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *bed) also(keys ...map[string]any) { b.do(func() { b.more = keys }) }

func (b *bed) pass(by time.Duration) { b.do(func() { b.now = b.now.Add(by) }) }

func (b *bed) count() (n int) { b.do(func() { n = b.asked }); return n }

// verify is the check that a token by a key fails at this moment.
func (b *bed) verify(k *issuertest.Key) string {
	b.t.Helper()
	var now time.Time
	b.do(func() { now = b.now })
	_, err := b.set.Verify(b.t.Context(), k.Sign(b.t, k.Header(), issuertest.Claims(address, resource, now, nil)), "")
	return checkOf(err)
}

func TestKeysAreKeptAndAskedForAgainForAnUnknownOneOnceAMinute(t *testing.T) {
	t.Parallel()
	b := newBed(t, "ES256")
	first, second, third := b.keys["ES256"], issuertest.NewKey(t, "ES256", "second"), issuertest.NewKey(t, "EdDSA", "third")
	expect := func(step string, k *issuertest.Key, check string, asked int) {
		t.Helper()
		if got := b.verify(k); got != check || b.count() != asked {
			t.Errorf("%s: failed %q after %d questions, want %q after %d", step, got, b.count(), check, asked)
		}
	}
	expect("at first", first, "", 1)
	expect("kept", first, "", 1)
	expect("unknown: asked at once", second, "kid", 2)
	expect("unknown again: not within a minute", second, "kid", 2)
	b.do(func() { b.keys["ES256"] = second })
	expect("published, and not asked for", second, "kid", 2)
	expect("the old one is known still", first, "", 2)
	b.pass(time.Minute)
	expect("after a minute", second, "", 3)
	expect("the old one was taken back", first, "kid", 3)
	b.pass(time.Minute)
	b.do(func() { b.failure = errors.New("no answer") })
	expect("it doesn't answer", third, "kid", 4)
	expect("those that are known go on", second, "", 4)
	b.pass(-time.Hour)
	expect("a clock that was set back bars nobody", third, "kid", 5)
}

func TestAKeyThatWasTakenBackEndsThoughNobodyShowsAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, "ES256")
		old, current := b.keys["ES256"], issuertest.NewKey(t, "ES256", "second")
		if got := b.verify(old); got != "" {
			t.Fatal(got)
		}
		b.do(func() { b.keys["ES256"] = current })
		b.pass(time.Hour)
		b.verify(old) // asks in the background
		synctest.Wait()
		if got := b.verify(old); got != "kid" {
			t.Errorf("failed %q", got)
		}
		b.do(func() { b.failure = errors.New("no answer") })
		b.pass(23 * time.Hour)
		if got := b.verify(current); got != "" {
			t.Errorf("while the issuer doesn't answer: %s", got)
		}
		synctest.Wait()
		b.pass(2 * time.Hour)
		if got := b.verify(current); got != "keys" {
			t.Errorf("after a day without an answer: %q", got)
		}
	})
}

func TestASilentIssuerIsAskedOnceForAllWhoWaitAndNoLongerThanTenSeconds(t *testing.T) {
	t.Parallel()
	keys := newBed(t, "ES256").keys
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.keys, b.slow, b.t = keys, true, t
		begun := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if got := b.verify(keys["ES256"]); got != "keys" {
					t.Errorf("it failed %q", got)
				}
			})
		}
		all.Wait()
		if took := time.Since(begun); took > 10*time.Second || b.count() != 1 {
			t.Errorf("it took %s and %d questions", took, b.count())
		}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			k := keys["ES256"]
			b.pass(2 * time.Second)
			_, err := b.set.Verify(ctx, k.Sign(t, k.Header(), issuertest.Claims(address, resource, noon, nil)), "")
			left <- err
		}()
		synctest.Wait()
		leave()
		if err := <-left; checkOf(err) != "keys" {
			t.Errorf("who left: %v", err)
		}
		time.Sleep(10 * time.Second) // what it asked ends
		synctest.Wait()
	})
}

func TestAFailedQuestionIsNotRepeatedByEachToken(t *testing.T) {
	t.Parallel()
	b := newBed(t, "ES256")
	b.do(func() { b.failure = errors.New("no answer") })
	for range 10 {
		if got := b.verify(b.keys["ES256"]); got != "keys" {
			t.Errorf("%q", got)
		}
	}
	if b.count() != 1 {
		t.Errorf("asked %d times", b.count())
	}
	b.do(func() { b.failure = nil })
	b.pass(time.Second)
	if got := b.verify(b.keys["ES256"]); got != "" {
		t.Errorf("after a second: %q", got)
	}
}

func TestAnIssuerThatLiesIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(*bed){
		"it is another":           func(b *bed) { b.named = "https://other.example" },
		"it has a slash":          func(b *bed) { b.named = address + "/" },
		"keys over plain http":    func(b *bed) { b.at = "http://id.example.com/keys" },
		"keys of this machine":    func(b *bed) { b.at = "http://127.0.0.1:1/keys" },
		"keys in a file":          func(b *bed) { b.at = "file:///etc/passwd" },
		"keys nowhere":            func(b *bed) { b.at = "" },
		"keys with a password":    func(b *bed) { b.at = "https://a:b@id.example.com/keys" },
		"no key":                  func(b *bed) { b.keys = nil },
		"no key that can be used": func(b *bed) { b.keys, b.more = nil, []map[string]any{{"kty": "RSA"}, {"kty": "oct", "k": "AA"}} },
		"its private half is there": func(b *bed) {
			public := b.keys["ES256"].Public()
			public["d"] = "AA"
			b.keys, b.more = nil, []map[string]any{public}
		},
		"a key for encryption": func(b *bed) {
			public := b.keys["ES256"].Public()
			public["use"] = "enc"
			b.keys, b.more = nil, []map[string]any{public}
		},
		"a key that only signs": func(b *bed) {
			public := b.keys["ES256"].Public()
			public["key_ops"] = []string{"sign"}
			b.keys, b.more = nil, []map[string]any{public}
		},
		"a point beside the curve": func(b *bed) {
			public := b.keys["ES256"].Public()
			public["x"] = public["y"]
			b.keys, b.more = nil, []map[string]any{public}
		},
	} {
		b := newBed(t, "ES256")
		k := b.keys["ES256"]
		b.do(func() { lie(b) })
		if got := b.verify(k); got != "keys" {
			t.Errorf("%s: failed %q", name, got)
		}
	}
}

func TestOfManyKeysTheFirstHundredThatCanBeUsedAre(t *testing.T) {
	t.Parallel()
	b := newBed(t, "ES256")
	k := b.keys["ES256"]
	others := make([]map[string]any, 99)
	for i := range others {
		others[i] = issuertest.NewKey(t, "EdDSA", fmt.Sprint("other-", i)).Public()
	}
	unusable := []map[string]any{{"kty": "oct"}, {"kty": "EC", "crv": "P-521"}, {}}
	b.do(func() { b.more = slices.Concat(unusable, others) })
	if got := b.verify(k); got != "" {
		t.Errorf("the hundredth: %q", got)
	}
	b = newBed(t, "ES256")
	b.do(func() { b.more = append(slices.Clone(others), issuertest.NewKey(t, "EdDSA", "one more").Public()) })
	if got := b.verify(b.keys["ES256"]); got != "kid" {
		t.Errorf("the one after it: %q", got)
	}
}
