package receiver_test

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/receiver"
)

const answerSeed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"

// newSigningAPI is newAPI with an answer key and a settlement.
func newSigningAPI(t *testing.T, store receiver.Store, answer http.HandlerFunc) *api {
	t.Helper()
	key, err := receiver.ParseAnswerKey(answerSeed)
	if err != nil {
		t.Fatal(err)
	}
	a := &api{t: t, now: morning}
	rc := receiver.New(receiver.Config{
		Verifier:  receiver.Verifier{Secrets: [][]byte{secret}, Now: func() time.Time { return a.now }},
		Store:     store,
		AnswerKey: key, Settlement: "/settlement",
		Log: slog.New(slog.DiscardHandler),
	})
	a.handler = rc.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.effects.Add(1)
		answer(w, r)
	}))
	return a
}

// signedBy reports whether an answer is signed for its request, and fails for a signature that
// doesn't hold.
func (a *api) signedBy(r *http.Request, body string, w *httptest.ResponseRecorder) bool {
	a.t.Helper()
	key, _ := receiver.ParseAnswerKey(answerSeed)
	by, err := signature.VerifyAnswer([]ed25519.PublicKey{key.Public().(ed25519.PublicKey)}, signature.Answer{
		IdempotencyKey: r.Header.Get("Idempotency-Key"), Timestamp: r.Header.Get("X-Runtime-Timestamp"),
		Method: r.Method, PathAndQuery: r.RequestURI, BodySHA256: signature.BodyHash([]byte(body)),
		Status: w.Code, AnswerSHA256: signature.BodyHash(w.Body.Bytes()),
	}, w.Header().Values("X-Runtime-Answer"))
	if errors.Is(err, signature.ErrUnsigned) {
		return false
	}
	if err != nil || by.At.Unix() != a.now.Unix() {
		a.t.Errorf("%d: %v, %v", w.Code, by, err)
	}
	return true
}

// send sends a call and says whether the answer is signed.
func (a *api) send(method, target, key, body string) (*httptest.ResponseRecorder, bool) {
	a.t.Helper()
	r := a.request(method, target, key, body)
	w := a.answers(r)
	return w, a.signedBy(r, body, w)
}

func (a *api) ask(key string) (s map[string]any) {
	a.t.Helper()
	return a.statement("GET", "/settlement/"+key+"?sent="+strconv.FormatInt(a.now.Unix(), 10), key+"~settle-1")
}

func (a *api) withdraw(key string) map[string]any {
	a.t.Helper()
	return a.statement("POST", "/settlement/"+key+"/withdraw?sent="+strconv.FormatInt(a.now.Unix(), 10), key+"~withdraw")
}

func (a *api) statement(method, target, key string) (s map[string]any) {
	a.t.Helper()
	w, signed := a.send(method, target, key, "")
	if w.Code != 200 || !signed || w.Header().Get("Cache-Control") != "no-store" {
		a.t.Fatalf("%s %s: %d, signed %v, %v: %s", method, target, w.Code, signed, w.Header(), w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
		a.t.Fatalf("%v: %s", err, w.Body)
	}
	return s
}

func (a *api) knows(s map[string]any, state string) {
	a.t.Helper()
	if s["state"] != state {
		a.t.Errorf("the statement is %v, not %s", s, state)
	}
}

func memories(t *testing.T) map[string]receiver.Memory {
	return map[string]receiver.Memory{
		"memory":       &receiver.MemoryStore{},
		"sql":          receiver.NewSQLStore(openSQLite(t), receiver.QuestionMarks),
		"transactions": receiver.NewSQLTransactions(openSQLite(t), receiver.QuestionMarks),
	}
}

func TestAnswersAreSigned(t *testing.T) {
	for name, store := range memories(t) {
		t.Run(name, func(t *testing.T) {
			a := newSigningAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
				status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"status":"done"}`)
			})
			for _, status := range []int{200, 201, 204, 303, 403, 404, 409, 410, 422, 424} {
				target, key := "/"+strconv.Itoa(status), "run-1."+strconv.Itoa(status)
				for _, sending := range []string{"first", "repeated"} {
					if w, signed := a.send("POST", target, key, "{}"); w.Code != status || !signed {
						t.Errorf("%s POST: %d, signed %v", sending, w.Code, signed)
					}
				}
				if w, signed := a.send("GET", target, "run-1.read", ""); w.Code != status || !signed {
					t.Errorf("GET: %d, signed %v", w.Code, signed)
				}
			}
			if w, signed := a.send("POST", "/200", "run-1.200", "other"); w.Code != 409 || !signed {
				t.Errorf("a conflict: %d, signed %v", w.Code, signed)
			}
		})
	}
}

// TestWhatTellsNothingIsNeverSigned: two signed answers under one key would contradict each other.
func TestWhatTellsNothingIsNeverSigned(t *testing.T) {
	for name, store := range memories(t) {
		t.Run(name, func(t *testing.T) {
			a := newSigningAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Runtime-Answer", "v1 1 "+strings.Repeat("0", 128))
				status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
				w.WriteHeader(status)
			})
			for _, status := range []int{400, 401, 408, 413, 500, 502, 503} {
				if w := a.answers(a.request("POST", "/"+strconv.Itoa(status), "run-1."+strconv.Itoa(status), "{}")); w.Code != status || w.Header().Get("X-Runtime-Answer") != "" {
					t.Errorf("%d: %v", w.Code, w.Header())
				}
				if w := a.answers(a.request("GET", "/"+strconv.Itoa(status), "run-1.read", "")); w.Code != status || w.Header().Get("X-Runtime-Answer") != "" {
					t.Errorf("GET %d: %v", w.Code, w.Header())
				}
			}
			forged := a.request("POST", "/200", "run-1.forged", "{}")
			forged.Header.Set("X-Runtime-Signature", "sha256="+strings.Repeat("0", 64))
			if w := a.answers(forged); w.Code != 401 || w.Header().Get("X-Runtime-Answer") != "" {
				t.Errorf("%d: %v", w.Code, w.Header())
			}
			released := newSigningAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
				receiver.Release(r.Context())
				w.WriteHeader(422)
			})
			if w, signed := released.send("POST", "/", "run-1.released", "{}"); w.Code != 422 || signed {
				t.Errorf("what isn't kept: %d, signed %v", w.Code, signed)
			}
			released.knows(released.ask("run-1.released"), "UNSEEN")
		})
	}
}

func TestInProgressAndInDoubtAreNotSigned(t *testing.T) {
	store := receiver.NewSQLStore(openSQLite(t), receiver.QuestionMarks)
	var a *api
	a = newSigningAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
		if w, signed := a.send("POST", "/refunds", "run-1.refund", "{}"); w.Code != 409 || signed {
			t.Errorf("in progress: %d, signed %v", w.Code, signed)
		}
		a.knows(a.ask("run-1.refund"), "IN_PROGRESS")
		a.knows(a.withdraw("run-1.refund"), "IN_PROGRESS")
		w.WriteHeader(500)
	})
	a.send("POST", "/refunds", "run-1.refund", "{}")
	if w, signed := a.send("POST", "/refunds", "run-1.refund", "{}"); w.Code != 409 || signed {
		t.Errorf("in doubt: %d, signed %v", w.Code, signed)
	}
	a.knows(a.ask("run-1.refund"), "UNKNOWN")
	a.knows(a.withdraw("run-1.refund"), "UNKNOWN")
	a.had(1)
}

// TestASignedRefusalIsKept: the same bytes again are refused again, also where they would now
// succeed; see H4 of the settlement model.
func TestASignedRefusalIsKept(t *testing.T) {
	for name, store := range memories(t) {
		t.Run(name, func(t *testing.T) {
			status := 422
			a := newSigningAPI(t, store, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			a.send("POST", "/refunds", "run-1.refund", "{}")
			status = 200
			if w, signed := a.send("POST", "/refunds", "run-1.refund", "{}"); w.Code != 422 || !signed {
				t.Errorf("%d, signed %v", w.Code, signed)
			}
			a.had(1)
			if s := a.ask("run-1.refund"); s["state"] != "DONE" || s["statusCode"] != 422.0 {
				t.Errorf("%v", s)
			}
		})
	}
}

// TestAKeptRefusalHasNoEffect: its answer is committed, and what the handler did before isn't.
func TestAKeptRefusalHasNoEffect(t *testing.T) {
	db := openSQLite(t)
	if _, err := db.Exec("CREATE TABLE effects (id TEXT)"); err != nil {
		t.Fatal(err)
	}
	a := newSigningAPI(t, receiver.NewSQLTransactions(db, receiver.QuestionMarks), func(w http.ResponseWriter, r *http.Request) {
		tx, _ := receiver.TxFrom(r.Context())
		if _, err := tx.Exec("INSERT INTO effects VALUES ('x')"); err != nil {
			t.Error(err)
		}
		w.WriteHeader(map[string]int{"/refused": 422, "/done": 201}[r.URL.Path])
	})
	a.send("POST", "/refused", "run-1.refused", "{}")
	if n := count(t, db); n != 0 {
		t.Errorf("%d effects of a refused call", n)
	}
	a.knows(a.ask("run-1.refused"), "DONE")
	a.send("POST", "/done", "run-1.done", "{}")
	if n := count(t, db); n != 1 {
		t.Errorf("%d effects of a call", n)
	}
}

func count(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM effects").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAWithdrawnKeyHasNoEffect(t *testing.T) {
	for name, store := range memories(t) {
		t.Run(name, func(t *testing.T) {
			a := newSigningAPI(t, store, ok)
			for range 2 {
				a.knows(a.ask("run-1.refund"), "UNSEEN")
			}
			for range 2 {
				a.knows(a.withdraw("run-1.refund"), "WITHDRAWN")
			}
			a.knows(a.ask("run-1.refund"), "WITHDRAWN")
			for range 2 {
				w, signed := a.send("POST", "/refunds", "run-1.refund", "{}")
				is(t, w, 410, "key_withdrawn")
				if !signed {
					t.Error("410 key_withdrawn is not signed")
				}
			}
			a.had(0)
			a.send("POST", "/refunds", "run-1.other", `"x"`)
			if s := a.withdraw("run-1.other"); s["state"] != "DONE" || s["statusCode"] != 201.0 || s["body"].(map[string]any)["got"] != "x" {
				t.Errorf("%v", s)
			}
			a.had(1)
		})
	}
}

// TestAskingDoesNotWithdraw: whoever may only read changes nothing.
func TestAskingDoesNotWithdraw(t *testing.T) {
	for name, store := range memories(t) {
		t.Run(name, func(t *testing.T) {
			a := newSigningAPI(t, store, ok)
			a.knows(a.ask("run-1.refund"), "UNSEEN")
			for _, wrong := range []struct {
				method, target string
				status         int
				allow          string
			}{
				{"HEAD", "/settlement/run-1.refund?sent=1", 405, "GET"},
				{"POST", "/settlement/run-1.refund?sent=1", 405, "GET"},
				{"PUT", "/settlement/run-1.refund?sent=1", 405, "GET"},
				{"GET", "/settlement/run-1.refund/withdraw?sent=1", 405, "POST"},
				{"DELETE", "/settlement/run-1.refund/withdraw?sent=1", 405, "POST"},
				{"POST", "/settlement/run-1.refund/other?sent=1", 404, ""},
				{"GET", "/settlement/?sent=1", 404, ""},
				{"POST", "/settlement/run-1.refund/withdraw?sent=soon", 400, ""},
				{"POST", "/settlement/~since/withdraw?sent=1", 400, ""},
			} {
				if w, _ := a.send(wrong.method, wrong.target, "run-1.q", ""); w.Code != wrong.status || w.Header().Get("Allow") != wrong.allow {
					t.Errorf("%s %s: %d, Allow %q", wrong.method, wrong.target, w.Code, w.Header().Get("Allow"))
				}
			}
			is(t, a.post("run-1.refund", "{}"), 201, "")
			is(t, a.post("~since", "{}"), 400, "invalid_request")
			a.had(1)
		})
	}
}

func TestAQuestionWaitsForAnOpenTransaction(t *testing.T) {
	store := receiver.NewSQLTransactions(openSQLite(t), receiver.QuestionMarks)
	var a *api
	asked := make(chan map[string]any, 1)
	a = newSigningAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
		a.knows(a.ask("run-1.refund"), "IN_PROGRESS")
		go func() { asked <- a.withdraw("run-1.refund") }()
		ok(w, r)
	})
	a.send("POST", "/refunds", "run-1.refund", "1")
	a.knows(<-asked, "DONE")
	a.had(1)
}

func TestAMemorySaysSinceWhenItForgetsNothing(t *testing.T) {
	db := openSQLite(t)
	store := receiver.NewSQLStore(db, receiver.QuestionMarks)
	a := newSigningAPI(t, store, ok)
	since := func(want time.Time) {
		t.Helper()
		for _, s := range []map[string]any{a.ask("run-1.new"), a.withdraw("run-1.gone")} {
			if s["since"] != want.Format("2006-01-02T15:04:05.000Z") || s["at"] != a.now.Format("2006-01-02T15:04:05.000Z") {
				t.Errorf("%v; since is not %s", s, want)
			}
		}
	}
	is(t, a.post("run-1.a", "1"), 201, "")
	a.now = a.now.Add(time.Hour)
	since(morning) // from the first call on
	is(t, a.post("run-1.b", "1"), 201, "")
	is(t, a.post("run-1.c", "1"), 201, "")
	a.now = a.now.Add(time.Hour)
	since(morning)
	if n, err := store.Forget(context.Background(), morning); n != 0 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	since(morning)
	if n, err := store.Forget(context.Background(), morning.Add(90*time.Minute)); n != 3 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	since(morning.Add(time.Hour)) // the claim of the newest that was dropped
	if s := a.ask("run-1.gone"); s["state"] != "WITHDRAWN" {
		t.Errorf("a mark is gone: %v", s)
	}
	a = a.restarted(store)
	since(morning.Add(time.Hour))
	inMemory := newSigningAPI(t, &receiver.MemoryStore{}, ok)
	inMemory.now = morning.Add(time.Hour)
	if s := inMemory.ask("run-1.a"); s["since"] != s["at"] {
		t.Errorf("a memory that dies with its process: %v", s)
	}
}

func (a *api) restarted(store receiver.Store) *api {
	b := newSigningAPI(a.t, store, ok)
	b.now = a.now
	return b
}

func TestARestoredReceiverTakesCallsAfterTenMinutes(t *testing.T) {
	for name, store := range memories(t) {
		t.Run(name, func(t *testing.T) {
			if err := store.Restored(context.Background(), morning); err != nil {
				t.Fatal(err)
			}
			a := newSigningAPI(t, store, ok)
			a.now = morning.Add(10*time.Minute - time.Second)
			w, signed := a.send("POST", "/refunds", "run-1.a", "1")
			is(t, w, 503, "unavailable")
			if signed || w.Header().Get("Retry-After") != "1" {
				t.Errorf("signed %v, %v", signed, w.Header())
			}
			is(t, a.answers(a.request("GET", "/orders", "run-1.b", "")), 503, "unavailable")
			a.knows(a.ask("run-1.a"), "UNSEEN")
			a.knows(a.withdraw("run-1.c"), "WITHDRAWN")
			a.had(0)
			a.now = morning.Add(10 * time.Minute)
			is(t, a.post("run-1.a", "1"), 201, "")
			is(t, a.post("run-1.c", "1"), 410, "key_withdrawn")
		})
	}
}

func TestRestoredIsDeclaredOfAStore(t *testing.T) {
	store := receiver.NewSQLStore(openSQLite(t), receiver.QuestionMarks)
	before := time.Now()
	if err := receiver.Restored(context.Background(), store); err != nil {
		t.Fatal(err)
	}
	if at, err := store.RestoredAt(context.Background()); err != nil || at.Before(before) {
		t.Errorf("%v, %v", at, err)
	}
	type plain struct{ receiver.Store }
	if err := receiver.Restored(context.Background(), plain{store}); err == nil || err.Error() != "receiver: this store keeps no record of restores: it is no Memory" {
		t.Error(err)
	}
}

func TestSettlementNeedsWhatItRestsOn(t *testing.T) {
	key, err := receiver.ParseAnswerKey(answerSeed)
	if err != nil {
		t.Fatal(err)
	}
	type plain struct{ receiver.Store }
	for want, cfg := range map[string]receiver.Config{
		"receiver: Config.Settlement needs an AnswerKey":                   {Store: &receiver.MemoryStore{}, Settlement: "/settlement"},
		"receiver: Config.Settlement needs a Store that is a Memory":       {Store: plain{&receiver.MemoryStore{}}, Settlement: "/settlement", AnswerKey: key},
		"receiver: Config.Settlement is a path, such as /settlement":       {Store: &receiver.MemoryStore{}, Settlement: "/settlement/", AnswerKey: key},
		"receiver: Config.AnswerKey is no Ed25519 key; see ParseAnswerKey": {Store: &receiver.MemoryStore{}, AnswerKey: key[:32]},
	} {
		cfg.Verifier.Secrets = [][]byte{secret}
		func() {
			defer func() {
				if said := recover(); said != want {
					t.Errorf("%v\nnot %s", said, want)
				}
			}()
			receiver.New(cfg)
		}()
	}
	for _, seed := range []string{"", answerSeed[:62], answerSeed + "00", strings.Repeat("g", 64)} {
		if _, err := receiver.ParseAnswerKey(seed); err == nil || err.Error() != "receiver: the seed of an answer key is 64 hex digits" {
			t.Errorf("%q: %v", seed, err)
		}
	}
	if text := receiver.AnswerKeyText(key); text != "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c" {
		t.Error(text)
	}
}

// TestEachFateVectorIsSo: a key of each status is kept, and its answer signed, as the vectors say.
func TestEachFateVectorIsSo(t *testing.T) {
	for _, v := range readAnswerVectors(t).Fates {
		a := newSigningAPI(t, receiver.NewSQLStore(openSQLite(t), receiver.QuestionMarks), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(v.Status) })
		w, signed := a.send("POST", "/refunds", "run-1.refund", "{}")
		if s := a.ask("run-1.refund"); w.Code != v.Status || signed != v.Signed || s["state"] != v.State || v.Kept != (s["statusCode"] == float64(v.Status)) {
			t.Errorf("%+v: %d, signed %v, %v", v, w.Code, signed, s)
		}
	}
}
