package outbound

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// TestAnOriginThatClosesUnannouncedIsRememberedForAnHour, and for an hour from the last
// time; others never are, and none longer.
func TestAnOriginThatClosesUnannouncedIsRememberedForAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c closers
		begin := time.Now()
		c.add("https://a.example", begin)
		time.Sleep(59 * time.Minute)
		if !c.includes("https://a.example", time.Now()) || c.includes("https://b.example", time.Now()) {
			t.Error("after 59 minutes")
		}
		c.add("https://a.example", time.Now())
		time.Sleep(time.Hour - 1)
		if !c.includes("https://a.example", time.Now()) {
			t.Error("it closed once more")
		}
		time.Sleep(time.Nanosecond)
		if c.includes("https://a.example", time.Now()) {
			t.Error("after an hour")
		}
		for i := range 100 {
			c.add("https://"+strconv.Itoa(i)+".example", time.Now())
			time.Sleep(closerTime)
		}
		if len(c.until) != 1 {
			t.Errorf("%d are kept that are over", len(c.until))
		}
	})
}

// TestWhatMustNotBeSentTwiceGetsAFreshConnection at an origin that once closed a reused one
// instead of answering; a read and what the receiver deduplicates don't need one.
func TestWhatMustNotBeSentTwiceGetsAFreshConnection(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"close-after-request-line", "close-after-body", "reset-after-body"} {
		b := setup(t)
		b.warm(t)
		b.receiver.Next(faultreceiver.Named(name))
		once := b.call(t, "POST")
		once.OnceOnly = true
		if o := b.client.Call(t.Context(), once); o.Certainty != request.Unknown {
			t.Fatalf("%s: %+v", name, o)
		}
		connections := 1
		for i, fresh := range []bool{true, true, false, true} {
			b.warm(t) // leaves an idle connection
			if i == 0 {
				connections++ // the first one was closed
			}
			call := b.call(t, "POST")
			if call.OnceOnly = fresh; fresh {
				connections++
			}
			if o := b.client.Call(t.Context(), call); o.Certainty != request.Returned {
				t.Fatalf("%s: %+v", name, o)
			}
			if got := len(b.receiver.Raw()); got != connections {
				t.Errorf("%s, call %d, once only %t: %d connections, want %d", name, i, fresh, got, connections)
			}
		}
	}
}

// TestWhatAnOriginMayDoIsNotHeldAgainstIt: an answer that broke off, silence, a close on a
// connection's first request, and a close while it was idle.
func TestWhatAnOriginMayDoIsNotHeldAgainstIt(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(b bundle){
		"broke off": func(b bundle) {
			b.warm(t)
			b.receiver.Next(faultreceiver.Named("cut-status-line"))
		},
		"first request": func(b bundle) { b.receiver.Next(faultreceiver.Named("close-after-body")) },
		"idle": func(b bundle) {
			b.warm(t)
			b.receiver.CloseConnections()
		},
		"silent": func(b bundle) {
			b.warm(t)
			b.receiver.Next(faultreceiver.Named("silent"))
		},
	} {
		b := setup(t)
		play(b)
		call := b.call(t, "POST")
		if name == "silent" {
			call.Timeout = stallTimes[0]
		}
		b.client.Call(t.Context(), call)
		if b.client.closers.includes(b.receiver.URL(), time.Now()) {
			t.Errorf("%s: it is remembered", name)
		}
	}
}
