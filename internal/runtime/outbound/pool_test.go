package outbound

import (
	"net"
	"testing"
	"testing/synctest"
)

// TestAsManyConnectionsStayIdleAsCallsMayBeUnderWay, and 64 at least.
func TestAsManyConnectionsStayIdleAsCallsMayBeUnderWay(t *testing.T) {
	for calls, want := range map[int]int{0: 64, 4: 64, 100: 100} {
		synctest.Test(t, func(t *testing.T) { // in which no connection is idle for too long
			p := newPool(calls)
			defer p.close()
			for range want + 5 {
				here, there := net.Pipe()
				defer func() { _ = there.Close() }()
				w := &wire{Conn: here}
				p.put("shop", newConn(w, w))
			}
			if n := len(p.idle["shop"]); n != want {
				t.Errorf("%d calls: %d connections are idle, want %d", calls, n, want)
			}
		})
	}
}
