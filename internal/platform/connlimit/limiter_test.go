package connlimit

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// fixture is a limiter and its connections by name.
type fixture struct {
	*Limiter
	t      *testing.T
	byName map[string]*fakeConn
}

// fakeConn notes whether it was closed.
type fakeConn struct {
	net.Conn
	closed bool
}

func (c *fakeConn) Close() error { c.closed = true; return nil }

func newFixture(t *testing.T, room int) *fixture {
	t.Helper()
	return &fixture{Limiter: New(room), t: t, byName: map[string]*fakeConn{}}
}

func (f *fixture) come(names ...string) {
	for _, name := range names {
		f.byName[name] = &fakeConn{}
		f.ConnState(f.byName[name], http.StateNew)
	}
}

// answered sends a request and its answer over a connection.
func (f *fixture) answered(name string) {
	f.ConnState(f.byName[name], http.StateActive)
	f.work(name, func() {})
	f.ConnState(f.byName[name], http.StateIdle)
}

// work calls do while a request of the connection is in its handler.
func (f *fixture) work(name string, do func()) {
	h := f.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { do() }))
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	h.ServeHTTP(httptest.NewRecorder(), r.WithContext(f.ConnContext(r.Context(), f.byName[name])))
}

// sent checks which connections the limiter has closed so far.
func (f *fixture) sent(want ...string) {
	f.t.Helper()
	var got []string
	for name, guest := range f.byName {
		if guest.closed {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.t.Errorf("sent away %v, want %v", got, want)
	}
}

func TestWhoeverWasQuietForLongestGivesWay(t *testing.T) {
	g := newFixture(t, 3)
	g.come("a", "b", "c")
	g.answered("a")
	g.sent()
	g.come("d")
	g.sent("b")
	g.come("e")
	g.sent("b", "c")
	g.come("f")
	g.sent("a", "b", "c")
}

func TestWhoseRequestIsWorkedOnStays(t *testing.T) {
	g := newFixture(t, 2)
	g.come("a", "b")
	g.ConnState(g.byName["a"], http.StateActive)
	g.work("a", func() {
		g.come("c", "d", "e")
		g.sent("b", "c", "d")
	})
	g.come("f")
	g.sent("b", "c", "d", "e") // a was answered last
}

func TestWhereEverybodyIsWorkedOnTheOldestGivesWay(t *testing.T) {
	g := newFixture(t, 2)
	g.come("a", "b")
	g.work("a", func() {
		g.work("b", func() {
			g.come("c")
			g.sent("a")
		})
	})
	g.ConnState(g.byName["a"], http.StateClosed) // as http.Server reports after the close
	g.come("d")
	g.sent("a", "c")
}

func TestWhoHasLeftTakesNoRoom(t *testing.T) {
	g := newFixture(t, 1)
	for _, state := range []http.ConnState{http.StateClosed, http.StateHijacked} {
		g.come("a")
		g.ConnState(g.byName["a"], state)
		g.come("b")
		g.sent()
		g.ConnState(g.byName["b"], state)
	}
	if g.quiet.Len()+g.working.Len()+len(g.open) != 0 {
		t.Error("somebody is remembered")
	}
}

// TestATLSConnectionIsClosedWithoutAFarewell: writing close_notify would block on a peer
// that doesn't read.
func TestATLSConnectionIsClosedWithoutAFarewell(t *testing.T) {
	c, plain := New(1), &fakeConn{}
	c.ConnState(tls.Server(plain, &tls.Config{MinVersion: tls.VersionTLS12}), http.StateNew)
	c.ConnState(&fakeConn{}, http.StateNew)
	if !plain.closed {
		t.Error("it stays open")
	}
}

func TestARequestOfNoConnectionIsServed(t *testing.T) {
	served := false
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody).WithContext(context.Background())
	New(1).Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true })).ServeHTTP(httptest.NewRecorder(), r)
	if !served {
		t.Error("it isn't")
	}
}

func TestRoomLeavesDescriptorsForTheWork(t *testing.T) {
	for descriptors, want := range map[uint64]int{0: 16384, 256: 128, 1024: 512, 4096: 3072, 20000: 16384, 1 << 20: 16384} {
		if got := Room(descriptors); got != want {
			t.Errorf("of %d descriptors %d connections, want %d", descriptors, got, want)
		}
	}
}
