package conformance

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
)

// compareFault plays against a receiver with a fault: accepts-signed, for the reason in
// accepts, and refuses-unsigned are BROKEN, and every other rule is NOT_TRIED.
func compareFault(t *testing.T, h http.Handler, accepts string) {
	t.Helper()
	cfg := against(serve(t, h))
	cfg.Capability, cfg.Inputs = "blind", []map[string]countersign.Value{input("text", `"x"`)}
	r := played(t, cfg)
	compare(t, r, `accepts-signed BROKEN
refuses-unsigned BROKEN
refuses-wrong-signature NOT_TRIED
refuses-changed-body NOT_TRIED
refuses-changed-target NOT_TRIED
refuses-old-timestamp NOT_TRIED
refuses-future-timestamp NOT_TRIED
same-key-same-body NOT_TRIED
same-key-other-body NOT_TRIED
slow-answer NOT_TRIED
twins NOT_TRIED
effect-once NOT_TRIED
`)
	if got := r.of(countersign.RuleAcceptsSigned).Seen; got != accepts {
		t.Errorf("seen %q", got)
	}
}

// hang waits until the caller closes the connection, which a server notices only after it has
// read the body.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestAReceiverThatHangsIsAskedTwice(t *testing.T) {
	var asked atomic.Int64
	compareFault(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		hang(r)
	}), "no answer within 200ms")
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestAReceiverThatClosesTheConnectionGivesNoAnswer(t *testing.T) {
	compareFault(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}), "the connection closed before an answer")
}

// compareAnswer plays against a receiver that answers every request alike.
func compareAnswer(t *testing.T, status int, contentType, body, accepts string) {
	t.Helper()
	r := played(t, against(serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))))
	compare(t, r, `accepts-signed BROKEN
refuses-unsigned BROKEN
refuses-wrong-signature BROKEN
refuses-changed-body BROKEN
refuses-changed-target BROKEN
refuses-old-timestamp BROKEN
refuses-future-timestamp BROKEN
same-key-same-body NOT_TRIED
same-key-other-body NOT_TRIED
slow-answer NOT_TRIED
twins NOT_TRIED
effect-once NOT_TRIED
`)
	if got := r.of(countersign.RuleAcceptsSigned).Seen; got != accepts {
		t.Errorf("seen %q", got)
	}
}

func TestAnAnswerInHTMLIsNone(t *testing.T) {
	compareAnswer(t, 200, "text/html", "<p>hello</p>", "200, not JSON")
}

func TestAnAnswerOfMoreThanAMegabyteIsNone(t *testing.T) {
	compareAnswer(t, 200, "application/json", `"`+strings.Repeat("x", countersign.MaxBodyBytes)+`"`, "200, the answer exceeds 1 MiB")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	compareAnswer(t, 307, "text/plain", "", "307; redirects are not followed")
}

func TestAnInternalErrorIsNoRefusal(t *testing.T) {
	compareAnswer(t, 500, "application/json", `{}`, "500")
}

// TestRefusingEverythingProvesNothing: with a wrong secret every call is a wrong one.
func TestRefusingEverythingProvesNothing(t *testing.T) {
	b := &books{}
	cfg := against(serve(t, b))
	cfg.Secrets = []string{"mistyped"}
	r := played(t, cfg)
	compare(t, r, `accepts-signed BROKEN
refuses-unsigned NOT_TRIED
refuses-wrong-signature NOT_TRIED
refuses-changed-body NOT_TRIED
refuses-changed-target NOT_TRIED
refuses-old-timestamp NOT_TRIED
refuses-future-timestamp NOT_TRIED
same-key-same-body NOT_TRIED
same-key-other-body NOT_TRIED
slow-answer NOT_TRIED
twins NOT_TRIED
effect-once NOT_TRIED
`)
	if len(b.entries) > 0 {
		t.Error(b.entries)
	}
}

func TestNobodyThereIsUnreachable(t *testing.T) {
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	origin := "http://" + nobody.Addr().String()
	_ = nobody.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	for origin, why := range map[string]string{origin: "connection refused", untrusted.URL: "the certificate is not trusted"} {
		c, err := New(against(origin))
		if err != nil {
			t.Fatal(err)
		}
		var unreachable UnreachableError
		if _, err = c.Play(t.Context()); !errors.As(err, &unreachable) || unreachable.Why != why {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

func TestAStopEndsTheCheck(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	c, err := New(against(serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stop()
		hang(r)
	}))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Play(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
