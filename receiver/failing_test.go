package receiver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign/receiver"
)

// failing is a store whose operations return the errors that are set.
type failing struct {
	receiver.Store
	claim, finish, release error
}

func (f failing) Claim(ctx context.Context, c receiver.Claim) (receiver.Entry, bool, error) {
	if f.claim != nil {
		return receiver.Entry{}, false, f.claim
	}
	return f.Store.Claim(ctx, c)
}

func (f failing) Finish(ctx context.Context, key string, a receiver.Answer) error {
	if f.finish != nil {
		return f.finish
	}
	return f.Store.Finish(ctx, key, a)
}

func (f failing) Release(ctx context.Context, key string) error {
	if f.release != nil {
		return f.release
	}
	return f.Store.Release(ctx, key)
}

var errDisk = errors.New("the disk is gone")

func TestWithoutAClaimNothingIsDone(t *testing.T) {
	a := newAPI(t, failing{Store: &receiver.MemoryStore{}, claim: errDisk}, ok)
	w := a.post("k", "{}")
	is(t, w, 503, "unavailable")
	if w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "disk") {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	a.had(0)
}

func TestAnAnswerThatIsNotRememberedIsNotGiven(t *testing.T) {
	a := newAPI(t, failing{Store: &receiver.MemoryStore{}, finish: errDisk}, ok)
	is(t, a.post("k", "{}"), 500, "not_remembered")
	is(t, a.post("k", "{}"), 409, "in_doubt")
	a.had(1)
}

func TestAKeyThatCouldNotBeReleasedStaysInDoubt(t *testing.T) {
	a := newAPI(t, failing{Store: &receiver.MemoryStore{}, release: errDisk}, answering(422, "no"))
	if w := a.post("k", "{}"); w.Code != 422 {
		t.Errorf("got %d", w.Code)
	}
	is(t, a.post("k", "{}"), 409, "in_doubt")
	a.had(1)
}
