package main

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// distance is a TCP proxy that delays what passes: half of the latency in each direction. It
// keeps the order and doesn't limit the bandwidth: bytes that follow each other are in the
// queue together, each with the time at which it is due.
type distance struct {
	listener net.Listener
	to       string
	latency  time.Duration

	mu    sync.Mutex
	conns []net.Conn
	ended bool
}

func startDistance(to string, latency time.Duration) (*distance, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &distance{listener: l, to: to, latency: latency}
	go d.serve()
	return d, nil
}

func (d *distance) port() int { return d.listener.Addr().(*net.TCPAddr).Port }

func (d *distance) serve() {
	for {
		client, err := d.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", d.to)
		if err != nil || !d.keep(client, server) {
			_ = client.Close()
			continue
		}
		go delayed(server, client, d.latency/2)
		go delayed(client, server, d.latency/2)
	}
}

// keep remembers connections to be closed; false if the proxy has ended.
func (d *distance) keep(conns ...net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ended {
		d.conns = append(d.conns, conns...)
	}
	return !d.ended
}

func (d *distance) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	_ = d.listener.Close()
	for _, c := range d.conns {
		_ = c.Close()
	}
}

// passing is bytes on their way.
type passing struct {
	due  time.Time
	data []byte
	err  error // what ended the stream
}

// maxOnTheWay bounds the reads on the way in one direction of a connection. It is far more than
// a latency's worth of them.
const maxOnTheWay = 1 << 14

// delayed copies from one connection to the other, each byte so much later, and then ends that
// direction.
func delayed(to, from net.Conn, by time.Duration) {
	way := make(chan passing, maxOnTheWay)
	go func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			way <- passing{time.Now().Add(by), slices.Clone(buffer[:n]), err}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.due))
		_, err := to.Write(p.data)
		if p.err == nil && err == nil {
			continue
		}
		if errors.Is(p.err, io.EOF) && err == nil {
			_ = to.(*net.TCPConn).CloseWrite()
			return
		}
		_, _ = to.Close(), from.Close()
		if p.err != nil {
			return
		}
		// Until the reader has noticed that it is closed.
		for p := range way {
			if p.err != nil {
				return
			}
		}
	}
}
