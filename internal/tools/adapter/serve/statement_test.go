package serve_test

import (
	"crypto/ed25519"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/receiver"
)

const seed = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"

// keyed is the shop with an answer key.
func keyed(base string, more ...string) string {
	return strings.Replace(shop(base, more...), "  http:", "  answerKeyEnv: SEED\n  http:", 1)
}

// signedBy reports whether an answer to a request has a signature that holds.
func (a *adapter) signedBy(got answer, key, method, target, body string) bool {
	a.t.Helper()
	private, err := receiver.ParseAnswerKey(seed)
	if err != nil {
		a.t.Fatal(err)
	}
	_, err = signature.VerifyAnswer([]ed25519.PublicKey{private.Public().(ed25519.PublicKey)}, signature.Answer{
		IdempotencyKey: key, Timestamp: strconv.FormatInt(a.now.Unix(), 10), Method: method, PathAndQuery: target,
		BodySHA256: signature.BodyHash([]byte(body)), Status: got.status, AnswerSHA256: signature.BodyHash([]byte(got.body)),
	}, got.header.Values(signature.HeaderAnswer))
	if err != nil && len(got.header.Values(signature.HeaderAnswer)) > 0 {
		a.t.Error(err)
	}
	return err == nil
}

// TestWhatIsSignedIsKept: ends and 424 are, and what says that nothing is known isn't signed.
func TestWhatIsSignedIsKept(t *testing.T) {
	api := newAPI(t, nil)
	for status, want := range map[int]bool{200: true, 204: true, 404: true, 422: true, 400: false, 401: false, 500: false, 408: false} {
		api.reply = says(status, map[bool]string{true: "{}"}[status != 204])
		a := start(t, keyed(api.URL), map[string]string{"SEED": seed})
		for range 2 {
			got := a.send("k", "POST", "/http/shop/orders", "{}")
			if a.signedBy(got, "k", "POST", "/http/shop/orders", "{}") != want {
				t.Errorf("%d is signed: %v", status, !want)
			}
			a.restart()
		}
	}
	api.Close()
	a := start(t, keyed(api.URL), map[string]string{"SEED": seed})
	for range 2 {
		got := a.send("k", "POST", "/http/shop/orders", "{}")
		got.is(t, 424, "not_called")
		if !a.signedBy(got, "k", "POST", "/http/shop/orders", "{}") {
			t.Error("424 is not signed")
		}
		a.restart()
	}
	a.send("k", "GET", "/calls/k", "").is(t, 200, `"state":"DONE","statusCode":424,"body":{"error":"not_called"`)
	got := a.send("l", "POST", "/http/shop/nothing", "{}")
	got.is(t, 404, "not_found")
	if !a.signedBy(got, "l", "POST", "/http/shop/nothing", "{}") {
		t.Error("404 is not signed")
	}
	if got := a.send("x", "GET", "/health", ""); !a.signedBy(got, "x", "GET", "/health", "") {
		t.Error("the health check's answer is not signed")
	}
}

// TestWithoutItsMemoryTheAdapterCallsNothing, and signs nothing that it can't keep.
func TestWithoutItsMemoryTheAdapterCallsNothing(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, keyed(api.URL), map[string]string{"SEED": seed})
	if err := a.store.Close(); err != nil {
		t.Fatal(err)
	}
	got := a.send("k", "POST", "/http/shop/orders", "{}")
	got.is(t, 424, "the adapter's memory can't be read or written; nothing was called")
	if a.signedBy(got, "k", "POST", "/http/shop/orders", "{}") || api.sent() != nil {
		t.Error("it is signed, or was called")
	}
	a.send("k~settle-1", "GET", "/calls/k", "").is(t, 503, "the adapter's memory can't be read; nothing was changed")
}

func TestAStatementTellsWhatBecameOfAKey(t *testing.T) {
	let, begun := make(chan struct{}), make(chan struct{})
	api := newAPI(t, says(200, `{"id":9007199254740993}`))
	a := start(t, keyed(api.URL)+strings.ReplaceAll(strings.ReplaceAll(shop(api.URL), "shop", "bank"), "SIGN", "OTHER"), map[string]string{"SEED": seed})
	since := `"since":"` + a.now.UTC().Format("2006-01-02T15:04:05.000Z") + `"}`
	ask := func(key, state string) {
		t.Helper()
		target := "/calls/" + key + "?sent=" + strconv.FormatInt(a.now.Unix(), 10)
		got := a.send(key+"~settle-1", "GET", target, "")
		got.is(t, 200, `{"key":"`+key+`","state":"`+state)
		if !strings.HasSuffix(got.body, since) || got.header.Get("Cache-Control") != "no-store" || !a.signedBy(got, key+"~settle-1", "GET", target, "") {
			t.Errorf("%s %v\nsince %s", got.body, got.header, since)
		}
	}
	ask("run.a", `UNSEEN","at":`)
	a.send("run.a", "POST", "/http/shop/orders", "{}").is(t, 200, "{")
	ask("run.a", `DONE","statusCode":200,"body":{"id":9007199254740993},"at":`)
	api.reply = says(500, "")
	a.send("run.b", "POST", "/http/shop/orders", "{}").is(t, 504, "outcome_unknown")
	ask("run.b", `UNKNOWN","at":`)
	api.reply = func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-let
		says(422, "in words")(w, r)
	}
	ended := make(chan answer)
	go func() { ended <- a.send("run.c", "POST", "/http/shop/orders", "{}") }()
	<-begun
	ask("run.c", `IN_PROGRESS","at":`)
	a.send("run.c~withdraw", "POST", "/calls/run.c/withdraw", "").is(t, 200, `"state":"IN_PROGRESS"`)
	close(let)
	(<-ended).is(t, 422, "in words")
	ask("run.c", `DONE","statusCode":422,"text":"in words","at":`)
	a.signed("OTHER", "x", "GET", "/calls/run.a", "").is(t, 401, `"error":"signature"`)
	a.send("x", "POST", "/calls/run.a", "").is(t, 405, "a question is a GET, a withdrawal a POST")
	a.send("x", "GET", "/calls/run.a?sent=soon", "").is(t, 400, "a question has a key of at most 512 bytes, and sent, the time of the first sending in Unix seconds")
	a.send("x", "GET", "/calls/run.a/more", "").is(t, 404, "not_found")
}

// TestAWithdrawnKeyIsNeverCalled, also after a restart and by whoever has its secret.
func TestAWithdrawnKeyIsNeverCalled(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, keyed(api.URL), map[string]string{"SEED": seed})
	for range 2 {
		a.send("k~withdraw", "POST", "/calls/k/withdraw?sent=1", "").is(t, 200, `"state":"WITHDRAWN"`)
		got := a.send("k", "POST", "/http/shop/orders", "{}")
		got.is(t, 410, `{"error":"key_withdrawn","message":"this idempotency key was withdrawn before a call came under it; nothing was called, and nothing will be"}`)
		if !a.signedBy(got, "k", "POST", "/http/shop/orders", "{}") {
			t.Error("it is not signed")
		}
		a.restart()
	}
	a.send("done", "POST", "/http/shop/orders", "{}").is(t, 200, "{}")
	a.send("done~withdraw", "POST", "/calls/done/withdraw", "").is(t, 200, `"state":"DONE"`)
	a.send("done", "POST", "/http/shop/orders", "{}").is(t, 200, "{}")
	if len(api.sent()) != 1 {
		t.Error(api.sent())
	}
}

func TestADeclaredRestoreIsSince(t *testing.T) {
	a := start(t, keyed("http://127.0.0.1:1"), map[string]string{"SEED": seed})
	at := a.now.Add(time.Hour)
	if err := a.store.Restored(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	a.send("x", "GET", "/calls/k", "").is(t, 200, `"since":"`+at.UTC().Format("2006-01-02T15:04:05.000Z")+`"`)
}
