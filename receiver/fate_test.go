package receiver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/receiver"
)

func TestARefusalByTheHandlerFreesTheKey(t *testing.T) {
	for name, store := range all(t) {
		t.Run(name, func(t *testing.T) {
			status := 0
			a := newAPI(t, store, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			for _, status = range []int{400, 422, 499} {
				is(t, a.post("k", "1"), status, "")
			}
			status = 200
			is(t, a.post("k", "2"), 200, "") // a different payload is accepted
			is(t, a.post("k", "1"), 409, "idempotency_conflict")
			a.had(4)
		})
	}
}

// TestAFailureLeavesTheKeyInDoubt: the handler failed, and nobody knows whether before or
// after the effect.
func TestAFailureLeavesTheKeyInDoubt(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, store, answering(502, "bad"))
			is(t, a.post("502", "{}"), 502, "")
			is(t, a.post("502", "{}"), 409, "in_doubt")
			is(t, a.post("502", "other"), 409, "idempotency_conflict")
			a.had(1)
			late := newAPI(t, store, answering(408, "too late"))
			is(t, late.post("408", "{}"), 408, "")
			is(t, late.post("408", "{}"), 409, "in_doubt")
			b := newAPI(t, store, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			b.dies("panic")
			is(t, b.post("panic", "{}"), 409, "in_doubt")
			b.had(1)
		})
	}
}

// dies sends a call whose handler panics.
func (a *api) dies(key string) {
	a.t.Helper()
	defer func() {
		if recover() == nil {
			a.t.Error("the panic was swallowed")
		}
	}()
	a.post(key, "{}")
}

func TestReleaseFreesTheKeyOfAFailure(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
				receiver.Release(r.Context())
				w.WriteHeader(503)
			})
			is(t, a.post("k", "{}"), 503, "")
			is(t, a.post("k", "{}"), 503, "")
			a.had(2)
			b := newAPI(t, store, func(_ http.ResponseWriter, r *http.Request) {
				receiver.Release(r.Context())
				panic(http.ErrAbortHandler)
			})
			b.dies("panic")
			b.dies("panic")
			b.had(2)
		})
	}
	receiver.Release(context.Background()) // outside of a side effect it does nothing
}

func TestInATransactionAFailureUndoesTheEffectAndFreesTheKey(t *testing.T) {
	db := openSQLite(t)
	if _, err := db.Exec("CREATE TABLE refunds (order_id TEXT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	status := 500
	a := newAPI(t, receiver.NewSQLTransactions(db, receiver.QuestionMarks), func(w http.ResponseWriter, r *http.Request) {
		tx, inside := receiver.TxFrom(r.Context())
		if !inside {
			t.Error("no transaction")
			return
		}
		if _, err := tx.Exec("INSERT INTO refunds VALUES ('A-1')"); err != nil {
			t.Error(err)
		}
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
	})
	refunds := func() (n int) {
		if err := db.QueryRow("SELECT count(*) FROM refunds").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	is(t, a.post("k", "{}"), 500, "")
	status = 422
	is(t, a.post("k", "{}"), 422, "")
	status = 0
	a.dies("k")
	if n := refunds(); n != 0 {
		t.Errorf("%d refunds after failures alone", n)
	}
	status = 201
	is(t, a.post("k", "{}"), 201, "")
	is(t, a.post("k", "{}"), 201, "")
	if n := refunds(); n != 1 {
		t.Errorf("%d refunds", n)
	}
	a.had(4)
}

func TestAnAnswerBeyondAMebibyteIsNotGiven(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			size := receiver.MaxBytes
			a := newAPI(t, store, func(w http.ResponseWriter, _ *http.Request) {
				for range size / 1024 {
					_, _ = fmt.Fprint(w, strings.Repeat("x", 1024))
				}
				_, _ = fmt.Fprint(w, strings.Repeat("y", size%1024))
			})
			is(t, a.post("largest", "{}"), 200, "")
			is(t, a.post("largest", "{}"), 200, "")
			size++
			w := a.post("larger", "{}")
			is(t, w, 500, "not_remembered")
			is(t, a.post("larger", "{}"), 409, "in_doubt")
			a.had(2)
		})
	}
}

func TestWhatIsNoStatusIsNotRemembered(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, answering(1000, ""))
	a.dies("k")
	is(t, a.post("k", "{}"), 409, "in_doubt")
}

func TestInformationalAnswersAndSecondOnesAreIgnored(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(103)
		w.WriteHeader(202)
		w.WriteHeader(500)
	})
	is(t, a.post("k", "{}"), 202, "")
	is(t, a.post("k", "{}"), 202, "")
	a.had(1)
}

// lateWord is a store that calls twin before it returns to a duplicate request that its key
// is CLAIMED: twin waits until the first request has ended.
type lateWord struct {
	receiver.Store
	twin func()
}

func (l lateWord) Claim(ctx context.Context, c receiver.Claim) (receiver.Entry, bool, error) {
	e, got, err := l.Store.Claim(ctx, c)
	if !got && e.State == receiver.Claimed {
		l.twin()
	}
	return e, got, err
}

// TestATwinOfOneThatJustEndedGetsItsAnswer: a duplicate whose first request ends between the
// read of the store and the answer gets that answer, not in_doubt. If the key was freed, it
// runs the handler.
func TestATwinOfOneThatJustEndedGetsItsAnswer(t *testing.T) {
	for name, status := range map[string]int{"finished": 201, "freed": 422} {
		t.Run(name, func(t *testing.T) {
			begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
			runs := 0
			store := lateWord{Store: &receiver.MemoryStore{}, twin: func() { close(goOn); <-ended }}
			a := newAPI(t, store, func(w http.ResponseWriter, _ *http.Request) {
				if runs++; runs == 1 {
					close(begun)
					<-goOn
				}
				w.WriteHeader(status)
			})
			go func() { defer close(ended); a.post("k", "{}") }()
			<-begun
			is(t, a.post("k", "{}"), status, "")
			if want := map[int]int{201: 1, 422: 2}[status]; runs != want {
				t.Errorf("the handler ran %d times", runs)
			}
		})
	}
}
