package outbound

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// stallTimes are the timeouts of calls that the receiver lets run into them. On a
// machine that does much else the first can be over before the call has come to where
// the receiver stalls; then it is made once more, with more time.
var stallTimes = []time.Duration{300 * time.Millisecond, 5 * time.Second, time.Minute}

// stalling makes a call to a receiver that stalls, with the first timeout that isn't over
// before the call has come to where it does; the last one decides. It returns what is
// expected under the timeout that decided.
func stalling(so func(timeout time.Duration) (bundle, request.Outcome), w want) (b bundle, o request.Outcome, expected want) {
	for _, timeout := range stallTimes {
		b, o = so(timeout)
		expected = w
		expected.cause = strings.ReplaceAll(w.cause, stallText, timeoutText(timeout))
		if statusOf(o) == w.status && o.Cause == expected.cause || !strings.HasSuffix(o.Cause, timeoutText(timeout)) {
			break
		}
	}
	return b, o, expected
}

func timeoutText(d time.Duration) string { return fmt.Sprintf("within %gs", d.Seconds()) }

const stallText = "within T"

// want is what must be known of a call. A fault delivers the request once unless
// undelivered says that the receiver never read it.
type want struct {
	certainty   request.Certainty
	status      int    // 0: no status line came
	cause       string // "*": any
	body        string // "" absent, "*" any
	undelivered bool
}

func unknown(status int, cause string) want {
	return want{certainty: request.Unknown, status: status, cause: cause}
}

func returned(status int, body string) want {
	return want{certainty: request.Returned, status: status, body: body}
}

// leading is what is known of a redirect.
func leading(status int, where string) want {
	w := returned(status, "")
	w.cause = fmt.Sprintf("the receiver answered %d, which does not say what happened: redirects are not followed; its Location is %s", status, where)
	return w
}

const (
	closed    = "connection closed before a complete answer"
	broken    = "connection reset before a complete answer"
	malformed = "the answer is not valid HTTP"
	silent    = "no answer " + stallText
	slow      = "no complete answer " + stallText
	tooLarge  = "the answer exceeds 1 MiB"
	headSize  = "the headers of the answer exceed 64 KiB"
	openEnd   = "the connection closed, and nothing says that the answer was complete"
	part      = "answer_unreadable: it is 206, a part of an answer, and no part was asked for"
)

var wants = map[string]want{
	"accept-close":             {certainty: request.Unknown, cause: "*", undelivered: true},
	"close-after-request-line": unknown(0, closed),
	"close-after-headers":      unknown(0, closed),
	"reset-after-headers":      unknown(0, broken),
	"close-after-body":         unknown(0, closed),
	"reset-after-body":         unknown(0, broken),
	"cut-status-line":          unknown(0, closed),
	"cut-after-status-line":    unknown(200, closed),
	"cut-headers":              unknown(200, closed),
	"cut-before-body":          unknown(200, closed),
	"short-body":               unknown(200, closed),
	"cut-chunk":                unknown(200, closed),
	"no-last-chunk":            unknown(200, closed),
	"no-final-line":            unknown(200, closed),
	"reset-mid-body":           unknown(200, broken),

	"silent":                   unknown(0, silent),
	"silent-in-status-line":    unknown(0, silent),
	"silent-after-status-line": unknown(200, silent),
	"silent-after-headers":     unknown(200, slow),
	"silent-mid-body":          unknown(200, slow),
	"silent-after-interim":     unknown(0, silent),
	"trickle":                  unknown(200, slow),

	"one-interim":         returned(200, `{"ok":true}`),
	"interim-flood":       unknown(0, "too many interim answers"),
	"switching-protocols": unknown(101, malformed),
	"not-http":            unknown(0, malformed),
	"http-2":              unknown(0, malformed),
	"bad-status":          unknown(0, malformed),
	"bad-header":          unknown(200, malformed),
	"two-lengths":         unknown(200, malformed),
	"negative-length":     unknown(200, malformed),
	"bad-chunk-size":      unknown(200, malformed),
	"bad-chunk-end":       unknown(200, malformed),
	"unknown-coding":      unknown(200, malformed),
	"huge-headers":        unknown(200, headSize),
	"endless-headers":     unknown(200, headSize),
	"large-headers":       returned(200, `{}`),
	"trailing-garbage":    returned(200, `{"ok":true}`),
	"second-answer":       returned(200, `{"ok":true}`),
	"chunked":             returned(200, `{"ok":true}`),
	"connection-close":    returned(200, `{}`),

	"301": leading(301, `"/elsewhere"`), "307": leading(307, `"/elsewhere"`), "308-far": leading(308, `"https://shop.example/v2/orders" …`), "503-later": returned(503, ""), "304": returned(304, ""),
	"204": returned(204, "null"), "201": returned(201, `{"status":true}`),
	"400": returned(400, ""), "404": returned(404, ""), "408": returned(408, ""), "409": returned(409, ""), "429": returned(429, ""),
	"500": returned(500, ""), "502": returned(502, ""), "503": returned(503, ""),
	"404-cut": returned(404, ""), "422-huge": returned(422, ""), "400-not-json": returned(400, ""), "413-early": returned(413, ""),
	"408-cut": unknown(408, closed),
	"503-cut": unknown(503, closed),
	"999":     unknown(999, malformed),

	"ok":          returned(200, `{"ok":true}`),
	"empty":       returned(200, "null"),
	"white-space": returned(200, "null"),

	"byte-order-mark": returned(200, `{"ok":true}`), "byte-order-mark-only": returned(200, "null"), "not-compressed": returned(200, "{}"),
	"length-list": returned(200, "{}"), "two-equal-lengths": returned(200, "{}"), "length-list-unequal": unknown(200, malformed),

	"limit-body":   {certainty: request.Returned, status: 200, body: "*"},
	"huge-body":    unknown(200, tooLarge),
	"huge-chunked": unknown(200, tooLarge),
	"gzip":         unknown(200, "answer_unreadable: it is compressed, and identity was asked for"),
	"cookie":       returned(200, `{}`),

	"part": unknown(206, part), "part-without-range": unknown(206, part), "part-empty": unknown(206, part),
}

func init() {
	for name, why := range unreadableWords {
		wants["unreadable-"+name] = unknown(200, countersign.AnswerUnreadable+why)
	}
	for _, version := range []string{"1.0-", "1.1-"} {
		for name, w := range map[string]want{
			"object": returned(200, `{"ok":true}`), "array": returned(200, "[1]"), "cut-object": unknown(200, "answer_unreadable: the text ends at byte 5; expected a colon after the key \"ok\""),
			"empty": unknown(200, openEnd), "white-space": unknown(200, openEnd), "number": unknown(200, openEnd), "text": unknown(200, openEnd), "true": unknown(200, openEnd), "null": unknown(200, openEnd),
		} {
			wants["until-close-"+version+name] = w
		}
	}
}

// sends are the three kinds of steps: a read, a side effect, and a side effect
// that is declared idempotent, which is resent no more than the others.
var sends = []struct {
	name, method string
	idempotent   bool
}{{"GET", "GET", false}, {"POST", "POST", false}, {"POST-idempotent", "POST", true}}

// TestEveryFaultIsDeliveredOnceAndJudged is the last row of the faults table:
// every misbehaviour, on a fresh and on a reused connection, for every kind of
// step; the receiver's own log says how often the request arrived.
func TestEveryFaultIsDeliveredOnceAndJudged(t *testing.T) {
	t.Parallel()
	for _, f := range faultreceiver.Faults() {
		w, ok := wants[f.Name]
		if !ok {
			t.Errorf("nothing is expected of fault %s", f.Name)
		}
		for _, s := range sends {
			for _, reused := range []bool{false, true} {
				if reused && w.undelivered {
					continue // it strikes when a connection is made
				}
				t.Run(fmt.Sprintf("%s/%s/reused=%v", f.Name, s.name, reused), func(t *testing.T) {
					t.Parallel()
					before := 0
					if reused {
						before = 1
					}
					calling := func(timeout time.Duration) (bundle, request.Outcome) {
						b := setup(t)
						b.project.Capabilities = []countersign.Capability{{Name: "work", Method: s.method, Path: "/orders/{resourceId}", Idempotent: s.idempotent}}
						if reused {
							b.warm(t)
						}
						b.receiver.Next(f)
						call := b.call(t, s.method)
						if f.Stalls {
							call.Timeout = timeout
						}
						return b, b.client.Call(t.Context(), call)
					}
					b, o, w := stalling(calling, w)
					checkOutcome(t, o, w)
					after := 1
					if w.undelivered {
						after = 0
					}
					got := b.delivered(t)
					if len(got) != before+after {
						t.Errorf("the receiver saw %d requests, want %d: %q", len(got), before+after, got)
					}
					if n := len(b.receiver.Raw()); n != 1 {
						t.Errorf("%d connections were made, want 1", n)
					}
				})
			}
		}
	}
}

func checkOutcome(t *testing.T, got request.Outcome, w want) {
	t.Helper()
	if got.Certainty != w.certainty || w.cause != "*" && got.Cause != w.cause {
		t.Errorf("got %s %q, want %s %q", got.Certainty, got.Cause, w.certainty, w.cause)
	}
	if status := statusOf(got); status != w.status {
		t.Errorf("got status %d, want %d", status, w.status)
	}
	if body := got.Body.Raw(); w.body != "*" && body != w.body {
		t.Errorf("got body %.80q, want %q", body, w.body)
	}
	if got.Certainty != request.Returned && !got.Body.IsZero() {
		t.Errorf("%s has a body", got.Certainty)
	}
	mustNotHold(t, fmt.Sprintf("%+v", got))
}

func statusOf(o request.Outcome) int {
	if o.Response == nil {
		return 0
	}
	return o.Response.StatusCode
}

// TestEveryExpectationHasAFault keeps the table honest the other way round.
func TestEveryExpectationHasAFault(t *testing.T) {
	var named []string
	for _, f := range faultreceiver.Faults() {
		named = append(named, f.Name)
	}
	for name := range wants {
		if !slices.Contains(named, name) {
			t.Errorf("there is no fault %s", name)
		}
	}
}
