package outbound

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/platform/dialing"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// ownAddress is an address of this machine that a listed name may have; without a
// network there is none, and a loopback one serves: it is refused from the start.
func ownAddress(t *testing.T) [4]byte {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && dialing.Allowed(p.Addr(), "api.example.com") {
			return p.Addr().As4()
		}
	}
	return [4]byte{127, 0, 0, 1}
}

// passOn serves at an address what arrives at the receiver.
func passOn(t *testing.T, ip [4]byte, r *faultreceiver.Receiver) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", netip.AddrPortFrom(netip.AddrFrom4(ip), 0).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", strings.TrimPrefix(r.URL(), "http://"))
			if err != nil {
				_ = from.Close()
				continue
			}
			go pipe(from, to)
			go pipe(to, from)
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

func pipe(from, to net.Conn) {
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		_, failed := to.Write(buffer[:n])
		if err != nil || failed != nil {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// TestANameThatMovesAfterItsHealthCheckIsNotFollowed: each connection judges the
// address that it is about to be made to, whatever the name meant before.
func TestANameThatMovesAfterItsHealthCheckIsNotFollowed(t *testing.T) {
	t.Parallel()
	good := ownAddress(t)
	for _, evil := range [][4]byte{{169, 254, 169, 254}, {127, 0, 0, 1}, {0, 0, 0, 0}, {100, 100, 100, 200}} {
		b := setup(t)
		now := good
		resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return resolving(now).Dial(ctx, network, address)
		}}
		b.moveTo("http://api.example.com:"+passOn(t, good, b.receiver), resolver)
		if h := b.client.Health(t.Context(), "acme", ours, b.project); h.Healthy != (good[0] != 127) {
			t.Fatalf("the check says %+v of %v", h, good)
		}
		before := len(b.receiver.Raw())
		b.client.pool.close() // the call needs a connection of its own
		now = evil
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.NotSent || o.Cause != string(errAddress) {
			t.Errorf("%v: got %+v", evil, o)
		}
		if b.delivered(t); len(b.receiver.Raw()) != before {
			t.Errorf("%v: a connection was made", evil)
		}
	}
}

// TestOneBadAddressOfSeveralIsNotDialled, in whichever order a name has them.
func TestOneBadAddressOfSeveralIsNotDialled(t *testing.T) {
	t.Parallel()
	check := guard("api.example.com")
	for _, address := range []string{"169.254.169.254:80", "[::ffff:169.254.169.254]:80", "[64:ff9b::a9fe:a9fe]:80", "127.0.0.1:80", "[::1]:80", "nonsense"} {
		if err := check(t.Context(), "tcp", address, nil); err == nil {
			t.Errorf("%s may be dialled", address)
		}
	}
	if err := check(t.Context(), "tcp", "93.184.216.34:443", nil); err != nil {
		t.Error(err)
	}
}
