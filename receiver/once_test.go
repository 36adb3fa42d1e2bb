package receiver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
)

func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// stores returns the stores that are not Transactors: they claim and finish a key outside of
// the effect's transaction.
func stores(t *testing.T) map[string]receiver.Store {
	return map[string]receiver.Store{
		"memory": &receiver.MemoryStore{},
		"SQLite": receiver.NewSQLStore(openSQLite(t), receiver.QuestionMarks),
	}
}

func transactions(t *testing.T) receiver.Store {
	return receiver.NewSQLTransactions(openSQLite(t), receiver.QuestionMarks)
}

func all(t *testing.T) map[string]receiver.Store {
	list := stores(t)
	list["SQLite in a transaction"] = transactions(t)
	return list
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	for name, store := range all(t) {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, store, ok)
			first := a.post("k", `"größe"`)
			a.now = a.now.Add(24 * time.Hour)
			again := a.post("k", `"größe"`)
			if again.Code != first.Code || again.Body.String() != first.Body.String() || again.Header().Get("Content-Type") != first.Header().Get("Content-Type") {
				t.Errorf("got %d %s", again.Code, again.Body)
			}
			if first.Header().Get("Idempotency-Replayed") != "" || again.Header().Get("Idempotency-Replayed") != "true" || again.Header().Get("X-Other") != "" {
				t.Errorf("%v, then %v", first.Header(), again.Header())
			}
			restarted := a.again(store, ok)
			if w := restarted.post("k", `"größe"`); w.Body.String() != first.Body.String() {
				t.Errorf("after a restart: %d %s", w.Code, w.Body)
			}
			a.had(1)
			restarted.had(0)
		})
	}
}

func TestARepeatHasTheContentTypeThatWasSniffed(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, answering(200, "<html>"))
	first, again := a.post("k", "{}"), a.post("k", "{}")
	if got := again.Header().Get("Content-Type"); got != "text/html; charset=utf-8" || got != first.Header().Get("Content-Type") {
		t.Errorf("%q, then %q", first.Header().Get("Content-Type"), got)
	}
}

func TestAnAnswerOfNothingIsRemembered(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, func(http.ResponseWriter, *http.Request) {})
	for range 2 {
		if w := a.post("k", "{}"); w.Code != 200 || w.Body.Len() != 0 || len(w.Header()["Content-Type"]) != 0 {
			t.Errorf("got %d %v", w.Code, w.Header())
		}
	}
	a.had(1)
}

func TestAnotherPayloadUnderAKeyIsAConflict(t *testing.T) {
	for name, store := range all(t) {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, store, ok)
			is(t, a.post("k", "1"), 201, "")
			is(t, a.post("k", "1.0"), 409, "idempotency_conflict")
			is(t, a.post("k", ""), 409, "idempotency_conflict")
			is(t, a.answers(a.request("PUT", "/refunds", "k", "1")), 409, "idempotency_conflict")
			is(t, a.answers(a.request("POST", "/refunds?x", "k", "1")), 409, "idempotency_conflict")
			a.had(1)
			is(t, a.post("K", "1.0"), 201, "")
			a.had(2)
		})
	}
}

// TestAClaimOfADeadProcessIsInProgressAndThenInDoubt: only the time since the claim tells a
// dead process from a live one.
func TestAClaimOfADeadProcessIsInProgressAndThenInDoubt(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, store, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			a.dies("k")
			b := a.again(store, ok)
			w := b.post("k", "{}")
			is(t, w, 409, "in_progress")
			if w.Header().Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			b.now = b.now.Add(2*time.Minute - time.Millisecond)
			is(t, b.post("k", "{}"), 409, "in_progress")
			b.now = b.now.Add(time.Millisecond)
			is(t, b.post("k", "{}"), 409, "in_doubt")
			b.had(0)
			if err := store.Release(context.Background(), "k"); err != nil { // a person found out that nothing happened
				t.Fatal(err)
			}
			is(t, b.post("k", "{}"), 201, "")
			b.had(1)
		})
	}
}

func TestWhileOneIsAtWorkTheOthersAreToldSo(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			begun, proceed, done := make(chan bool), make(chan bool), make(chan bool)
			a := newAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
				begun <- true
				<-proceed
				ok(w, r)
			})
			r := a.request("POST", "/refunds", "k", "{}")
			go func() { defer close(done); a.answers(r) }()
			<-begun
			is(t, a.post("k", "{}"), 409, "in_progress")
			is(t, a.post("k", "other"), 409, "idempotency_conflict")
			a.now = a.now.Add(time.Hour)
			is(t, a.post("k", "{}"), 409, "in_progress") // it is in the same process, so its age doesn't matter
			close(proceed)
			<-done
			is(t, a.post("k", "{}"), 201, "")
			a.had(1)
		})
	}
}

// TestAnEffectGoesOnWhenTheCallerHangsUp, and a repeated call gets its answer.
func TestAnEffectGoesOnWhenTheCallerHangsUp(t *testing.T) {
	for name, store := range all(t) {
		t.Run(name, func(t *testing.T) {
			ctx, hangUp := context.WithCancel(context.Background())
			a := newAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
				hangUp()
				if r.Context().Err() != nil {
					t.Error("the effect was cancelled")
				}
				ok(w, r)
			})
			a.answers(a.request("POST", "/refunds", "k", "{}").WithContext(ctx))
			is(t, a.post("k", "{}"), 201, "")
			a.had(1)
		})
	}
}

func TestOfFiftyTwinsOneHasTheEffect(t *testing.T) {
	for name, store := range all(t) {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, store, ok)
			server := httptest.NewServer(a.handler)
			defer server.Close()
			var twins sync.WaitGroup
			for range 50 {
				r := a.request("POST", "/refunds", "k", "{}")
				r.RequestURI = ""
				r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(server.URL, "http://")
				twins.Go(func() {
					res, err := server.Client().Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					defer func() { _ = res.Body.Close() }()
					if res.StatusCode != 201 && (res.StatusCode != 409 || res.Header.Get("Retry-After") == "") {
						t.Errorf("a twin got %d", res.StatusCode)
					}
				})
			}
			twins.Wait()
			a.had(1)
			is(t, a.post("k", "{}"), 201, "")
		})
	}
}
