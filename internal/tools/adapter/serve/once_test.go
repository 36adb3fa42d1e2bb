package serve_test

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/tools/adapter/calls"
)

func TestTheSameKeyGetsTheSameAnswerAndAnotherCallAConflict(t *testing.T) {
	api := newAPI(t, says(201, `{"id":9007199254740993}`))
	a := start(t, shop(api.URL), nil)
	a.send("run-1.pay", "POST", "/http/shop/orders", `{"amount":1}`).is(t, 201, `{"id":9007199254740993}`)
	again := a.send("run-1.pay", "POST", "/http/shop/orders", `{"amount":1}`)
	again.is(t, 201, `{"id":9007199254740993}`)
	if again.header.Get("Idempotency-Replayed") != "true" {
		t.Error("nothing says that the answer was given before")
	}
	a.restart()
	a.send("run-1.pay", "POST", "/http/shop/orders", `{"amount":1}`).is(t, 201, `{"id":9007199254740993}`)
	for _, other := range [][2]string{{"/http/shop/orders", `{"amount":2}`}, {"/http/shop/orders?x=1", `{"amount":1}`}} {
		a.send("run-1.pay", "POST", other[0], other[1]).is(t, 409, `{"error":"idempotency_conflict","message":"this idempotency key came with another operation, query or body"}`)
	}
	if len(api.sent()) != 1 {
		t.Errorf("the upstream was asked %d times: %q", len(api.sent()), api.sent())
	}
}

// TestWhatAnAnswerMeans is the table of contract 6, as the adapter passes it on.
func TestWhatAnAnswerMeans(t *testing.T) {
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		panic(http.ErrAbortHandler)
	}
	for name, test := range map[string]struct {
		reply  func(http.ResponseWriter, *http.Request)
		status int
		body   string
	}{
		"an object":               {says(200, `{"ok":true}`), 200, `{"ok":true}`},
		"nothing":                 {says(204, ""), 204, ""},
		"white space":             {says(200, " \n"), 200, ""},
		"text":                    {says(200, "done\n"), 200, `{"text":"done\n"}`},
		"JSON with a key twice":   {says(200, `{"a":1,"a":2}`), 200, `{"text":"{\"a\":1,\"a\":2}"}`},
		"a byte order mark":       {says(200, "\uFEFF{}"), 200, `{}`},
		"a refusal":               {says(422, `{"why":"no"}`), 422, `{"why":"no"}`},
		"a refusal in words":      {says(404, "gone"), 404, "gone"},
		"too many requests":       {says(429, "later"), 429, "later"},
		"a request timeout":       {says(408, ""), 504, "the upstream answered 408, which does not say what happened"},
		"an error":                {says(500, "oops"), 504, `the upstream answered 500, which does not say what happened; it said \"oops\". Nobody knows whether it took effect. Find out, then stop the adapter and say it with: countersign adapter resolve`},
		"a redirect":              {says(307, ""), 504, "the upstream answered 307, and redirects aren't followed"},
		"a part":                  {says(206, "{}"), 504, "the upstream answered 206, a part that nobody asked for"},
		"another is at work":      {says(409, `{"error":"in_progress"}`), 504, "the upstream answered 409 and speaks of another request under the key"},
		"a conflict":              {says(409, `{"error":"taken"}`), 409, `{"error":"taken"}`},
		"neither JSON nor UTF-8":  {says(200, "\xff\xfe"), 504, "the upstream answered 200 with neither JSON nor UTF-8"},
		"more than 1 MiB":         {says(200, `"`+strings.Repeat("x", 1<<20)+`"`), 504, "the answer exceeds 1 MiB"},
		"a refusal of over 1 MiB": {says(400, strings.Repeat("x", 1<<20+1)), 400, `{"text":"xxx`},
		"the connection's end":    {hangUp, 504, "the connection ended before a complete answer"},
		"a compressed answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(200)
		}, 504, "the upstream compressed its answer, which nobody asked for"},
		"an echo of the secret":    {says(200, `{"is":"key-of-the-shop"}`), 200, `{"is":"[credential]"}`},
		"a secret in a refusal":    {says(403, `key-of-the-shop is wrong`), 403, `[credential] is wrong`},
		"a secret and then an end": {says(500, `key-of-the-shop`), 504, `it said \"[credential]\"`},
	} {
		t.Run(name, func(t *testing.T) {
			api := newAPI(t, test.reply)
			a := start(t, shop(api.URL, "auth: {type: bearer, credentialEnv: KEY}"), map[string]string{"KEY": "key-of-the-shop"})
			for range 2 {
				a.send("run-1.pay", "POST", "/http/shop/orders", `{}`).is(t, test.status, test.body)
				a.restart()
			}
			if len(api.sent()) != 1 {
				t.Errorf("the upstream was asked %d times", len(api.sent()))
			}
		})
	}
}

func TestOnlyTheSecretOfTheUpstreamItselfVerifies(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL)+strings.ReplaceAll(strings.ReplaceAll(shop(api.URL), "shop", "bank"), "SIGN", "OTHER"), nil)
	a.signed("OTHER", "k", "POST", "/http/shop/orders", "{}").is(t, 401, `"error":"signature"`)
	a.signed("OTHER", "k", "POST", "/http/bank/orders", "{}").is(t, 200, "{}")
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 409, "idempotency_conflict")
	a.do(httptest.NewRequest("POST", "/http/shop/orders", nil)).is(t, 401, `"error":"missing_header"`)
	a.do(httptest.NewRequest("GET", "/openapi.json", nil)).is(t, 401, "missing_header")
	a.do(httptest.NewRequest("GET", "/health", nil)).is(t, 200, `{"status":"ok"}`)
	a.signed("OTHER", "k", "GET", "/openapi.json", "").is(t, 200, `"/http/shop/orders/{id}"`)
	if len(api.sent()) != 1 {
		t.Errorf("the upstreams were asked %q", api.sent())
	}
}

func TestWhatIsNotOfferedIsNotFound(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL), nil)
	for _, target := range []string{"/http/shop/customers", "/http/nobody/orders", "/mcp/shop/orders", "/http/shop/orders/", "/http/shop", "/", "/http/shop/orders/%2e%2e", "/http/shop/orders/a%2Fb", "/http/shop/orders/a%5Cb", "/http/shop/orders/a/b", "/http/shop/orders/%zz"} {
		r := httptest.NewRequest("GET", "/x", nil)
		r.RequestURI = target
		r.Header = http.Header{}
		got := a.signedAs(r)
		if got.status != 404 || !strings.Contains(got.body, "is not offered here; GET /openapi.json lists what is") {
			t.Errorf("%s is answered %d %s", target, got.status, got.body)
		}
	}
	a.send("p1", "PUT", "/http/shop/files/a%2Fb%20c", "{}").is(t, 200, "{}")
	a.send("p2", "PUT", "/http/shop/files/a%2F..%2Fb", "{}").is(t, 404, "not_found")
	a.send("p3", "GET", "/http/shop/orders/A-1?expand=all&x=%20", "").is(t, 200, "{}")
	want := []string{"PUT /files/a%2Fb%20c {}", "GET /orders/A-1?expand=all&x=%20"}
	if strings.Join(api.sent(), "\n") != strings.Join(want, "\n") {
		t.Errorf("passed on %q, not %q", api.sent(), want)
	}
}

func TestACallOfWhichNothingCanHaveBeenSentLeavesNothingBehind(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	address := api.URL
	api.Close()
	a := start(t, shop(address), nil)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 424, `{"error":"not_called","message":"the upstream could not be reached; nothing was called"}`)
	if _, known, err := a.store.Look(t.Context(), "k"); known || err != nil {
		t.Error("the key is known", err)
	}
	a.text = strings.ReplaceAll(a.text, address, newAPI(t, says(200, `{"now":1}`)).URL)
	a.restart()
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 200, `{"now":1}`)
}

func TestAMissingCredentialCallsNothing(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL, "auth: {type: bearer, credentialEnv: KEY}"), nil)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 424, "the variable KEY is not set; nothing was called")
	if api.sent() != nil {
		t.Error("it was called")
	}
}

func TestACallThatThisProcessDoesNotKnowTheEndOfIsUnknown(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL), nil)
	call := callOf("POST", "/http/shop/orders", "{}")
	if err := a.store.Begin(t.Context(), "k", "shop", call, a.now); err != nil {
		t.Fatal(err)
	}
	a.restart()
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 504, `{"error":"outcome_unknown","message":"a call was begun under this key, and no answer of it is kept`)
	if err := a.store.Resolve(t.Context(), "k", calls.Answer{Status: 200, ContentType: "application/json", Body: []byte(`{"found":true}`)}, "in the ledger", a.now); err != nil {
		t.Fatal(err)
	}
	a.restart()
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 200, `{"found":true}`)
	if api.sent() != nil {
		t.Error("it was called")
	}
}

func TestARestoredMemoryTakesNoCallsForTenMinutes(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL), nil)
	if err := a.store.Restored(t.Context(), a.now); err != nil {
		t.Fatal(err)
	}
	a.now = a.now.Add(10*time.Minute - time.Second)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 503, `"error":"unavailable","message":"the adapter's memory was restored: until no call of before can arrive any more, 10 minutes after, none is taken"`)
	a.now = a.now.Add(time.Second)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 200, "{}")
}

func TestAnswersAreDroppedAndKeysStay(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL), nil)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 200, "{}")
	a.now = a.now.Add(91 * 24 * time.Hour)
	a.restart()
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 504, "outcome_unknown")
	if len(api.sent()) != 1 {
		t.Error("it was called again")
	}
}

// TestConcurrentCallsUnderAKeyAreOne: whoever comes while it goes on waits for its answer.
func TestConcurrentCallsUnderAKeyAreOne(t *testing.T) {
	let := make(chan struct{})
	begun := make(chan struct{}, 1)
	api := newAPI(t, func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		<-let
		says(200, `{"n":1}`)(w, nil)
	})
	a := start(t, shop(api.URL), nil)
	answers := make(chan answer)
	for range 20 {
		go func() { answers <- a.send("k", "POST", "/http/shop/orders", "{}") }()
	}
	<-begun
	a.send("k", "POST", "/http/shop/orders", `{"other":1}`).is(t, 409, "idempotency_conflict")
	close(let)
	for range 20 {
		(<-answers).is(t, 200, `{"n":1}`)
	}
	if len(api.sent()) != 1 {
		t.Errorf("it was called %d times", len(api.sent()))
	}
}

func TestALargeBodyIsRefused(t *testing.T) {
	a := start(t, shop("http://localhost:1"), nil)
	a.send("k", "POST", "/http/shop/orders", strings.Repeat("x", 1<<20+1)).is(t, 413, `{"error":"payload_too_large","message":"a body has at most 1 MiB"}`)
	a.send(strings.Repeat("k", 513), "POST", "/http/shop/orders", "{}").is(t, 400, "an idempotency key has at most 512 bytes")
}

// TestACallThatGoesOnIsWaitedForThenInProgress, and its answer is there later.
func TestACallThatGoesOnIsWaitedForThenInProgress(t *testing.T) {
	let := make(chan struct{})
	api := newAPI(t, func(w http.ResponseWriter, _ *http.Request) {
		<-let
		says(200, "{}")(w, nil)
	})
	a := start(t, shop(api.URL), nil)
	a.patience = time.Millisecond
	a.restart()
	for range 2 {
		got := a.send("k", "POST", "/http/shop/orders", "{}")
		got.is(t, 503, `{"error":"in_progress","message":"the call goes on; ask again for its answer"}`)
		if got.header.Get("Retry-After") != "1" {
			t.Error(got.header)
		}
	}
	close(let)
	got := a.send("k", "POST", "/http/shop/orders", "{}")
	for got.status == 503 {
		got = a.send("k", "POST", "/http/shop/orders", "{}")
	}
	got.is(t, 200, "{}")
	if len(api.sent()) != 1 {
		t.Error(api.sent())
	}
}

// TestNoOtherCallIsBegunWhileAnAnswerCannotBeKept: an answer that isn't kept is given to nobody, and its caller is told
// once it is.
func TestNoOtherCallIsBegunWhileAnAnswerCannotBeKept(t *testing.T) {
	var other *sql.Conn
	locked := make(chan struct{})
	api := newAPI(t, nil)
	a := start(t, shop(api.URL), nil)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.dir, "keys.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	api.reply = func(w http.ResponseWriter, r *http.Request) {
		if other, err = db.Conn(t.Context()); err == nil {
			_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		}
		close(locked)
		says(200, "{}")(w, r)
	}
	first := make(chan answer)
	go func() { first <- a.send("k", "POST", "/http/shop/orders", "{}") }()
	<-locked
	if err != nil {
		t.Fatal(err)
	}
	got := a.send("l", "POST", "/http/shop/orders", "{}")
	got.is(t, 424, "; nothing was called")
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	(<-first).is(t, 200, "{}")
	if len(api.sent()) != 1 {
		t.Error(api.sent())
	}
}
