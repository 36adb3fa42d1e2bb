package runrepo_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// latest is the revision of the run in memory, 0 for none, and how long that took.
func (h *fixture) latest(ref runrepo.Ref) (revision int64, took time.Duration) {
	began := time.Now()
	if r := h.repository.Latest(context.Background(), ref); r != nil {
		revision = r.Revision
	}
	return revision, time.Since(began)
}

func (h *fixture) knows(ref runrepo.Ref, revision int64) {
	h.t.Helper()
	if got, took := h.latest(ref); got != revision || took > 0 {
		h.t.Fatalf("revision %d is known after %s, want %d at once", got, took, revision)
	}
}

var errUndone = errors.New("undone")

// undone applies an event in a transaction that isn't committed.
func (h *fixture) undone(ref runrepo.Ref, e run.Event) {
	h.t.Helper()
	err := h.store.Update(context.Background(), func(tx store.Tx) error {
		_, err := h.repository.Apply(tx, ref, nil, e, bob)
		return errors.Join(errUndone, err)
	})
	if !errors.Is(err, errUndone) {
		h.t.Fatalf("%v", err)
	}
}

func TestARunIsKnownOnceItIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ref := h.mustStart("acme")
		if got, _ := h.latest(ref); got != 0 {
			t.Fatalf("revision %d is known before its commit is", got)
		}
		h.repository.Committed(h.load(ref))
		h.knows(ref, 1)
		asked := h.must(ref, run.Resumed{})
		h.repository.Committed(asked.Run)
		h.knows(ref, asked.Run.Run().Revision)
	})
}

// TestAReadWaitsForTheCommitOfItsRun, and is answered with what that commits.
func TestAReadWaitsForTheCommitOfItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ref := h.mustStart("acme")
		h.repository.Committed(h.load(ref))
		const slow = 5 * time.Millisecond
		told := make(chan int64)
		err := h.store.Update(t.Context(), func(tx store.Tx) error {
			moved, err := h.repository.Apply(tx, ref, nil, run.Resumed{}, bob)
			go func() { time.Sleep(slow); h.repository.Committed(moved.Run) }()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() { revision, _ := h.latest(ref); told <- revision }()
		if revision, took := h.latest(ref); revision < 2 || took != slow || <-told != revision {
			t.Errorf("revision %d after %s", revision, took)
		}
	})
}

// TestWordOfAnEarlierCommitIsNoNews: two commits may be heard of in either order.
func TestWordOfAnEarlierCommitIsNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ref := h.mustStart("acme")
		first := h.must(ref, run.Resumed{})
		second := h.must(ref, decide(countersign.ApprovalRejected))
		h.repository.Committed(first.Run)
		if got, _ := h.latest(ref); got != 0 {
			t.Fatalf("revision %d is known, which isn't the newest", got)
		}
		h.repository.Committed(second.Run)
		h.repository.Committed(first.Run)
		h.knows(ref, second.Run.Run().Revision)
	})
}

// TestNothingIsKnownOfARunAfterAFailedTransaction, and only the first read waits for a
// commit that never comes.
func TestNothingIsKnownOfARunAfterAFailedTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ref := h.mustStart("acme")
		h.repository.Committed(h.load(ref))
		h.undone(ref, run.Resumed{})
		if got, took := h.latest(ref); got != 0 || took == 0 || took > time.Second {
			t.Fatalf("revision %d after %s", got, took)
		}
		h.knows(ref, 0)
		h.undone(ref, run.CancelAsked{Reason: "enough", By: bob.ID})
		moved := h.must(ref, run.Resumed{})
		h.repository.Committed(moved.Run)
		h.knows(ref, moved.Run.Run().Revision)
	})
}

func TestNothingIsKnownOfADeletedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ref := h.mustStart("acme")
		held := h.load(ref)
		h.repository.Committed(held)
		h.repository.Deletes(ref)
		h.knows(ref, 0)
		h.repository.Committed(held)
		h.knows(ref, 0)
	})
}
