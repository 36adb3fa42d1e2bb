package outbound

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// stoppingWhenRead reads the request, tells that it has, and never answers.
func stoppingWhenRead(tell func()) faultreceiver.Fault {
	return faultreceiver.Playing("stop", func(x *faultreceiver.Exchange) {
		x.ReadAll()
		tell()
		x.Hold()
	})
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 10 {
		b.warm(t)
	}
	if got := b.delivered(t); len(got) != 10 || len(b.receiver.Raw()) != 1 {
		t.Errorf("%d requests over %d connections", len(got), len(b.receiver.Raw()))
	}
}

// TestRefusedConnectionsAreNotSent on the first call and on a later one.
func TestRefusedConnectionsAreNotSent(t *testing.T) {
	t.Parallel()
	for _, reused := range []bool{false, true} {
		b := setup(t)
		if reused {
			b.warm(t)
		}
		b.receiver.Refuse()
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.NotSent || o.Cause != "connection refused" || o.Response != nil {
			t.Errorf("reused=%v: got %+v", reused, o)
		}
	}
}

// TestAClosedIdleConnectionIsReplaced: the receiver gave it up while nobody used
// it, so the next call begins anew and its outcome is certain.
func TestAClosedIdleConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.warm(t)
	b.receiver.CloseConnections()
	o := b.client.Call(t.Context(), b.call(t, "POST"))
	if o.Certainty != request.Returned {
		t.Errorf("got %+v", o)
	}
	if got := b.delivered(t); len(got) != 2 || len(b.receiver.Raw()) != 2 {
		t.Errorf("%d requests over %d connections", len(got), len(b.receiver.Raw()))
	}
}

// TestAWriteThatSentNothingIsNoSend: an idle connection that looks alive and takes
// no byte is replaced; the request is delivered once, on the new one.
func TestAWriteThatSentNothingIsNoSend(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ready := make(chan struct{})
	b.receiver.Next(faultreceiver.Playing("deaf", func(x *faultreceiver.Exchange) {
		x.ReadAll()
		x.Write(faultreceiver.JSON(200, "{}"))
		<-ready // doesn't notice that the client's side ended
	}))
	b.warm(t)
	idle := b.idle()[0]
	if err := idle.wire.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	o := b.client.Call(t.Context(), b.call(t, "POST"))
	close(ready)
	if o.Certainty != request.Returned {
		t.Errorf("got %+v", o)
	}
	if got := b.delivered(t); len(got) != 2 || len(b.receiver.Raw()) != 2 {
		t.Errorf("%d requests over %d connections", len(got), len(b.receiver.Raw()))
	}
}

// TestIdleConnectionsExpire by themselves: the receiver sees the end of it while
// the client does nothing.
func TestIdleConnectionsExpire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.client.pool.maxIdle = time.Millisecond
	b.warm(t)
	if err := b.receiver.Settle(); err != nil {
		t.Error(err)
	}
	if n := len(b.idle()); n != 0 {
		t.Errorf("%d connections are still idle", n)
	}
}

// TestAClosedClientKeepsNoConnection and still makes calls.
func TestAClosedClientKeepsNoConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.client.Close()
	b.warm(t)
	if n := len(b.idle()); n != 0 {
		t.Errorf("%d connections are idle", n)
	}
}

// TestAnAnswerNobodyAskedForIsNeverTaken for that of the next call.
func TestAnAnswerNobodyAskedForIsNeverTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sent := make(chan struct{})
	b.receiver.Next(faultreceiver.Playing("stale", func(x *faultreceiver.Exchange) {
		x.ReadAll()
		x.Write(faultreceiver.JSON(200, `{"ok":true}`))
		x.Write(faultreceiver.JSON(200, `{"stale":true}`))
		close(sent)
		x.Hold()
	}))
	b.warm(t)
	<-sent
	o := b.client.Call(t.Context(), b.call(t, "POST"))
	if o.Body.Raw() != `{"ok":true}` {
		t.Errorf("got %+v", o)
	}
	if got := b.delivered(t); len(got) != 2 {
		t.Errorf("the receiver saw %q", got)
	}
}

// TestReceiversThatCloseSoonAreBelieved: the connection is not kept.
func TestReceiversThatCloseSoonAreBelieved(t *testing.T) {
	t.Parallel()
	for header, kept := range map[string]bool{"timeout=1": false, "timeout=x": false, "timeout=5, max=100": true, "max=100, timeout=1": false} {
		b := setup(t)
		b.receiver.Next(faultreceiver.Answering("soon", "HTTP/1.1 200 OK\r\nKeep-Alive: "+header+"\r\nContent-Length: 2\r\n\r\n{}"))
		b.warm(t)
		if got := len(b.idle()) == 1; got != kept {
			t.Errorf("%s: kept is %v", header, got)
		}
	}
}

// TestAnEarlyAnswerEndsALargeRequest: the receiver refuses without reading the
// body and keeps the connection open; neither side waits for the other, and no
// connection is used again on which a request is still being written. A pipe has
// no buffers, so what isn't read stays unwritten.
func TestAnEarlyAnswerEndsALargeRequest(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	go func() {
		_, _ = theirs.Read(make([]byte, 100))
		_, _ = theirs.Write([]byte(faultreceiver.JSON(413, "{}")))
	}()
	w := &wire{Conn: ours}
	a := newConn(w, w).exchange(t.Context(), message{method: "POST"}, make([]byte, 1<<20))
	if !a.sent || !a.head || a.status != 413 || a.err != nil || a.reusable {
		t.Errorf("got %+v", a)
	}
	if written := w.written.Load(); written != 100 {
		t.Errorf("%d bytes were written", written)
	}
}

func TestALargeRequestArrivesWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	call := b.call(t, "POST")
	call.Request.Body = countersign.String(strings.Repeat("x", 1<<20-2))
	if o := b.client.Call(t.Context(), call); o.Certainty != request.Returned {
		t.Errorf("got %+v", o)
	}
	b.delivered(t)
	if !strings.HasSuffix(b.receiver.Raw()[0], "\r\n\r\n"+call.Request.Body.Raw()) {
		t.Error("the body did not arrive as it was")
	}
}

// TestALargeRequestToADeadReceiverEnds: the write is still going on when the time
// is over, and is gone when the call returns.
func TestALargeRequestToADeadReceiverEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	b.receiver.Next(faultreceiver.Playing("dead", func(x *faultreceiver.Exchange) {
		x.ReadLine()
		cancel()
		<-done
	}))
	call := b.call(t, "POST")
	call.Request.Body = countersign.String(strings.Repeat("x", 1<<20-2))
	o := b.client.Call(ctx, call)
	close(done)
	if o.Certainty != request.Unknown || o.Cause != "the call was stopped: no answer" {
		t.Errorf("got %+v", o)
	}
}

// TestConcurrentCallsGetTheirOwnAnswers against a real server.
func TestConcurrentCallsGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q", r.Header.Get("Idempotency-Key"))
	}))
	defer server.Close()
	b.project.BaseURL = server.URL
	b.client.origins[server.URL] = true
	template := b.call(t, "POST")
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				call := template
				call.IdempotencyKey = fmt.Sprintf("run-%d.step-%d", worker, i)
				o := b.client.Call(t.Context(), call)
				if o.Body.Text() != call.IdempotencyKey {
					t.Errorf("%s was answered %+v", call.IdempotencyKey, o)
				}
			}
		})
	}
	wg.Wait()
	b.client.Close()
}
