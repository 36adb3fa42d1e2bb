package harness

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// balancer is a load balancer before the replicas of a server: each request goes to the next one, and a request to a replica that takes no
// connection to the one after it. It passes bytes on as they come, and adds one header line that makes the replica close the connection after
// its answer. So the client's next request is a new connection, and even what is no HTTP arrives as it was sent.
type balancer struct {
	url      string
	listener net.Listener

	mu       sync.Mutex
	replicas []string // host and port
	next     int
}

func newBalancer(t testing.TB) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{url: origin(listener), listener: listener}
	go b.accept()
	return b
}

func (b *balancer) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return // closed at the end of the test
		}
		go b.carry(client.(*net.TCPConn))
	}
}

// serve sets the replicas that requests are sent to.
func (b *balancer) serve(replicas []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replicas = replicas
}

// dial connects to the next replica that takes a connection, nil if none does.
func (b *balancer) dial() *net.TCPConn {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.replicas {
		b.next++
		if conn, err := net.Dial("tcp", b.replicas[b.next%len(b.replicas)]); err == nil {
			return conn.(*net.TCPConn)
		}
	}
	return nil
}

// carry connects a client with a replica until the replica has answered.
func (b *balancer) carry(client *net.TCPConn) {
	defer func() { _ = client.Close() }()
	replica := b.dial()
	if replica == nil {
		return
	}
	defer func() { _ = replica.Close() }()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(&onceOnly{to: replica}, client)
		_ = replica.CloseWrite() // a client that hangs up
	}()
	_, _ = io.Copy(client, replica)
	_ = client.CloseWrite()
	_ = client.SetReadDeadline(time.Now().Add(time.Second)) // what is unread when a connection closes would discard the answer
	<-sent
}

// onceOnly adds a header line behind the first line.
type onceOnly struct {
	to    io.Writer
	added bool
}

func (o *onceOnly) Write(p []byte) (int, error) {
	end := bytes.IndexByte(p, '\n') + 1
	if o.added || end == 0 {
		return o.to.Write(p)
	}
	o.added = true
	if _, err := o.to.Write(bytes.Join([][]byte{p[:end], p[end:]}, []byte("Connection: close\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
