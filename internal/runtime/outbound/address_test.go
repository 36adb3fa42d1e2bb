package outbound

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/rules/request"
)

// resolving makes every look-up answer with one IPv4 address, without a network:
// it speaks DNS over a pipe.
func resolving(ip [4]byte) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go answerDNS(theirs, ip)
		return ours, nil
	}}
}

func answerDNS(c net.Conn, ip [4]byte) {
	defer func() { _ = c.Close() }()
	for {
		var length [2]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		end := 12 + strings.IndexByte(string(query[12:]), 0) + 5 // name, type, class
		reply := append([]byte{}, query[:end]...)
		reply[2], reply[3] = 0x84, 0
		copy(reply[6:12], []byte{0, 0, 0, 0, 0, 0})
		if query[end-3] == 1 { // an A record
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
			reply = append(reply, ip[:]...)
		}
		_, _ = c.Write(binary.BigEndian.AppendUint16(nil, uint16(len(reply))))
		_, _ = c.Write(reply)
	}
}

// TestNamesThatPointWhereNoAPILives are refused after they were resolved and
// before anything is connected to.
func TestNamesThatPointWhereNoAPILives(t *testing.T) {
	t.Parallel()
	for _, ip := range [][4]byte{{127, 0, 0, 1}, {169, 254, 169, 254}, {0, 0, 0, 0}, {224, 0, 0, 1}} {
		b := setup(t)
		b.moveTo(strings.Replace(b.receiver.URL(), "127.0.0.1", "api.example.com", 1), resolving(ip))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.NotSent || o.Cause != string(errAddress) {
			t.Errorf("%v: got %+v", ip, o)
		}
		if b.delivered(t); len(b.receiver.Raw()) != 0 {
			t.Errorf("%v: a connection was made", ip)
		}
	}
}

// moveTo registers the project at another origin.
func (b bundle) moveTo(origin string, r *net.Resolver) {
	b.project.BaseURL = origin
	b.client.origins[origin] = true
	b.client.dialer.resolver = r
}

// TestLocalhostMayBeLoopback where the operator listed it.
func TestLocalhostMayBeLoopback(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.moveTo(strings.Replace(b.receiver.URL(), "127.0.0.1", "localhost", 1), nil)
	if o := b.client.Call(t.Context(), b.call(t, "POST")); o.Certainty != request.Returned {
		t.Errorf("got %+v", o)
	}
}

func TestNamesWithoutAddressAreNotSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.moveTo("http://api.example.com", &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no network: 10.9.8.7")
	}})
	o := b.client.Call(t.Context(), b.call(t, "POST"))
	if o.Certainty != request.NotSent || o.Cause != "the name could not be resolved" {
		t.Errorf("got %+v", o)
	}
}

// TestTimeSpentOnConnectingCounts: a look-up or a handshake that never ends takes
// the call's own time and leaves nothing sent.
func TestTimeSpentOnConnectingCounts(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connects, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	stuck := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for origin, r := range map[string]*net.Resolver{"https://" + silent.Addr().String(): nil, "http://api.example.com": stuck} {
		b := setup(t)
		b.moveTo(origin, r)
		call := b.call(t, "POST")
		call.Timeout = 100 * time.Millisecond
		o := b.client.Call(t.Context(), call)
		if o.Certainty != request.NotSent || o.Cause != "no connection within 0.1s" {
			t.Errorf("%s: got %+v", origin, o)
		}
	}
}
