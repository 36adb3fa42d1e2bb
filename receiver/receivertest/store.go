package receivertest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
)

// at is the time of the claims.
var at = time.Date(2026, 1, 1, 9, 0, 0, 123e6, time.UTC)

// TestStore checks that a Store follows the rules of receiver.Store. open returns an empty
// store for each subtest.
func TestStore(t *testing.T, open func(t *testing.T) receiver.Store) {
	for name, rule := range map[string]func(*testing.T, receiver.Store){
		"a key is claimed once":                claimedOnce,
		"of many claims at once one is true":   oneOfMany,
		"an answer comes back byte for byte":   answersComeBack,
		"a finished key stays as it is":        finishedStays,
		"a released key is as never claimed":   releasedIsNew,
		"what is not claimed can't be changed": onlyClaimedChange,
		"keys that differ in a byte are two":   keysAreBytes,
		"a cancelled change is not made":       cancelledIsRefused,
	} {
		t.Run(name, func(t *testing.T) { rule(t, open(t)) })
	}
}

func claimOf(key, by string) receiver.Claim {
	return receiver.Claim{Key: key, Payload: strings.Repeat("0a", 32), By: by, At: at}
}

func claim(t *testing.T, s receiver.Store, c receiver.Claim, want bool) receiver.Entry {
	t.Helper()
	e, got, err := s.Claim(context.Background(), c)
	if err != nil || got != want {
		t.Fatalf("claim of %q: %v, %v; want %v", c.Key, got, err, want)
	}
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func claimedOnce(t *testing.T, s receiver.Store) {
	first := claimOf("k", "one")
	claim(t, s, first, true)
	second := receiver.Claim{Key: "k", Payload: "other", By: "two", At: at.Add(time.Hour)}
	for range 2 {
		e := claim(t, s, second, false)
		if e.State != receiver.Claimed || e.Payload != first.Payload || e.By != "one" || e.Key != "k" || !e.At.Equal(at) {
			t.Errorf("the entry is %+v", e)
		}
	}
}

func oneOfMany(t *testing.T, s receiver.Store) {
	const many = 50
	got := make(chan string, many)
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			e, claimed, err := s.Claim(context.Background(), claimOf("k", "one"))
			switch {
			case err != nil || e.State != receiver.Claimed:
				got <- "failed"
				t.Errorf("%+v, %v", e, err)
			case claimed:
				got <- "claimed"
			}
		})
	}
	all.Wait()
	if len(got) != 1 {
		t.Errorf("%d claims are true", len(got))
	}
}

func answersComeBack(t *testing.T, s receiver.Store) {
	for key, a := range map[string]receiver.Answer{
		"nothing": {Status: 204},
		"json":    {Status: 201, ContentType: "application/json; charset=utf-8", Body: []byte(`{"amount":249.00}`)},
		"binary":  {Status: 200, ContentType: "application/octet-stream", Body: []byte{0, 0xff, '\r', '\n', 0xc3, 0x28, '\'', '"', '\\'}},
		"unicode": {Status: 200, ContentType: `text/plain; name="größe"`, Body: []byte("漢字 🙂")},
		"large":   {Status: 200, ContentType: "text/plain", Body: bytes.Repeat([]byte("0123456789abcde\n"), receiver.MaxBytes/16)},
	} {
		claim(t, s, claimOf(key, "one"), true)
		must(t, s.Finish(context.Background(), key, a))
		e := claim(t, s, claimOf(key, "two"), false)
		if e.State != receiver.Finished || e.Answer.Status != a.Status || e.Answer.ContentType != a.ContentType || !bytes.Equal(e.Answer.Body, a.Body) {
			t.Errorf("%s came back as %s %d %q with %d bytes", key, e.State, e.Answer.Status, e.Answer.ContentType, len(e.Answer.Body))
		}
	}
}

func finishedStays(t *testing.T, s receiver.Store) {
	ctx := context.Background()
	claim(t, s, claimOf("k", "one"), true)
	body := []byte("first")
	must(t, s.Finish(ctx, "k", receiver.Answer{Status: 200, Body: body}))
	copy(body, "later") // the store must have made a copy
	if err := s.Finish(ctx, "k", receiver.Answer{Status: 201}); !errors.Is(err, receiver.ErrNotClaimed) {
		t.Errorf("finished again: %v", err)
	}
	if err := s.Release(ctx, "k"); !errors.Is(err, receiver.ErrNotClaimed) {
		t.Errorf("released: %v", err)
	}
	copy(claim(t, s, claimOf("k", "two"), false).Answer.Body, "other")
	if e := claim(t, s, claimOf("k", "two"), false); e.Answer.Status != 200 || string(e.Answer.Body) != "first" {
		t.Errorf("the answer is now %d %s", e.Answer.Status, e.Answer.Body)
	}
}

func releasedIsNew(t *testing.T, s receiver.Store) {
	claim(t, s, claimOf("k", "one"), true)
	must(t, s.Release(context.Background(), "k"))
	claim(t, s, claimOf("k", "two"), true)
	if e := claim(t, s, claimOf("k", "three"), false); e.By != "two" || e.State != receiver.Claimed {
		t.Errorf("the entry is %+v", e)
	}
}

func onlyClaimedChange(t *testing.T, s receiver.Store) {
	ctx := context.Background()
	claim(t, s, claimOf("other", "one"), true)
	if err := s.Finish(ctx, "k", receiver.Answer{Status: 200}); !errors.Is(err, receiver.ErrNotClaimed) {
		t.Errorf("finished: %v", err)
	}
	if err := s.Release(ctx, "k"); !errors.Is(err, receiver.ErrNotClaimed) {
		t.Errorf("released: %v", err)
	}
	claim(t, s, claimOf("k", "one"), true) // neither of them created an entry
}

func keysAreBytes(t *testing.T, s receiver.Store) {
	for _, key := range []string{"run-1.a", "run-1.A", "run-1.a ", " run-1.a", "run-1.a%", "run-1.a'", "run-1.", "run-1.ä", "run-1.a\u0308", strings.Repeat("k", 512)} {
		claim(t, s, claimOf(key, "one"), true)
	}
}

func cancelledIsRefused(t *testing.T, s receiver.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	claim(t, s, claimOf("claimed", "one"), true)
	if _, got, err := s.Claim(ctx, claimOf("new", "one")); got || err == nil {
		t.Errorf("claimed: %v, %v", got, err)
	}
	if err := s.Finish(ctx, "claimed", receiver.Answer{Status: 200}); err == nil {
		t.Error("finished")
	}
	if err := s.Release(ctx, "claimed"); err == nil {
		t.Error("released")
	}
	if e := claim(t, s, claimOf("claimed", "two"), false); e.State != receiver.Claimed {
		t.Errorf("the entry is %+v", e)
	}
}
