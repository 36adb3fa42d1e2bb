package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// inlineWrite is how much is written before reading begins. What is larger is
// written beside the reading, so that a receiver that answers early and stops
// reading (413, say) can't make both sides wait for each other.
const inlineWrite = 16 << 10

// wire counts what goes out, below TLS: the only witness of whether a request
// has left.
type wire struct {
	net.Conn
	written atomic.Int64
	asked   bool // the receiver asked for a client certificate, in the handshake
	ended   bool // its TCP end was read
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.ended = w.ended || errors.Is(err, io.EOF)
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.written.Add(int64(n))
	return n, err
}

// conn is one connection to an origin. It carries one exchange at a time.
type conn struct {
	wire    *wire
	stream  net.Conn // wire, or TLS over it
	source  *meter
	reader  *bufio.Reader
	scratch []byte // memory for the next request
	born    time.Time
	used    bool        // it has carried an exchange
	expiry  *time.Timer // set while idle
}

func newConn(w *wire, stream net.Conn) *conn {
	source := &meter{from: stream}
	if _, isTLS := stream.(*tls.Conn); isTLS {
		source.under = w
	}
	return &conn{wire: w, stream: stream, source: source, reader: bufio.NewReaderSize(source, readBuffer), born: time.Now()}
}

func (c *conn) close() { _ = c.wire.Close() }

// interrupt makes every read and write of the connection fail, now and later.
func (c *conn) interrupt() { _ = c.wire.SetDeadline(time.Unix(1, 0)) }

// exchange writes the payload once and reads the answer. When it returns nothing
// of it goes on, and answer.sent says whether a byte of the payload left. Unless
// the answer is reusable the connection is of no more use.
func (c *conn) exchange(ctx context.Context, m message, payload []byte) answer {
	method := m.method
	if err := m.mayBeSent(ctx); err != nil {
		return answer{err: err}
	}
	before := c.wire.written.Load()
	stop := context.AfterFunc(ctx, c.interrupt)
	written := c.write(payload)
	crashpoint.At("outbound.sent", method)
	var a answer
	if ended(written) && c.wire.written.Load() == before {
		a.err = written.err // there is nothing to be answered
	} else {
		a = readAnswer(c.source, c.reader, method, m.maxAnswer)
	}
	crashpoint.At("outbound.answered", method)
	a.reusable = stop() && a.reusable && ended(written) && written.err == nil
	if !a.reusable {
		c.close() // also ends a write that the receiver no longer reads
		<-written.done
	}
	a.sent = c.wire.written.Load() > before
	if a.unheard && c.wire.asked && !c.used {
		a = c.withoutCertificate(a)
	}
	c.used = true
	c.keep(payload)
	return a
}

// keep takes the payload's memory for the next one, without the credential that
// was in it. Large ones are let go.
func (c *conn) keep(payload []byte) {
	if len(payload) <= inlineWrite {
		clear(payload)
		c.scratch = payload
	}
}

// writing is a write that may still go on; done is closed when err is final.
type writing struct {
	done chan struct{}
	err  error
}

// over is the channel of a write that is over when write returns.
var over = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (c *conn) write(payload []byte) *writing {
	if len(payload) <= inlineWrite {
		_, err := c.stream.Write(payload)
		return &writing{over, err}
	}
	w := &writing{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		_, w.err = c.stream.Write(payload)
	}()
	return w
}

// ended reports a write that is over, without waiting for it.
func ended(w *writing) bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}
