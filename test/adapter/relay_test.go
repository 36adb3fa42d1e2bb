package adapter

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// relay is an address for a process that dies and comes back at another one.
type relay struct {
	url string
	to  atomic.Pointer[string] // host and port
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // nobody is left to connect
	r := &relay{url: "http://" + l.Addr().String()}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go r.carry(from)
		}
	}()
	return r
}

func (r *relay) leadsTo(url string) {
	address := strings.TrimPrefix(url, "http://")
	r.to.Store(&address)
}

func (r *relay) carry(from net.Conn) {
	defer func() { _ = from.Close() }() // it may be closed
	address := r.to.Load()
	if address == nil {
		return
	}
	to, err := net.Dial("tcp", *address) //nolint:noctx // it is on this machine
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }() // it may be closed
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[1], way[0]) // until one side ends
			done <- struct{}{}
		}()
	}
	<-done
}
