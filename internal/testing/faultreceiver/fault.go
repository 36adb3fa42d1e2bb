package faultreceiver

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Fault is one way to answer a request.
type Fault struct {
	Name string
	// Stalls reports whether only the client's own timeout ends the request.
	Stalls bool

	play     func(*Exchange)
	keep     bool // the connection can be reused
	atAccept bool // happens before anything is read
}

// Exchange is an incoming request, as passed to a fault.
type Exchange struct {
	Conn   net.Conn
	reader *bufio.Reader
}

// ReadLine reads one line of the request.
func (e *Exchange) ReadLine() string {
	line, _ := e.reader.ReadString('\n')
	return line
}

// ReadHead reads the request up to its body.
func (e *Exchange) ReadHead() {
	for line := e.ReadLine(); line != "\r\n" && line != ""; line = e.ReadLine() {
	}
}

// ReadAll reads the whole request.
func (e *Exchange) ReadAll() {
	req, err := http.ReadRequest(e.reader)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
}

// Write sends text unchanged.
func (e *Exchange) Write(text string) { _, _ = io.WriteString(e.Conn, text) }

// Hold keeps the connection open until the client closes it, and logs what still arrives.
func (e *Exchange) Hold() { _, _ = io.Copy(io.Discard, e.reader) }

// Reset closes the connection by a TCP reset.
func (e *Exchange) Reset() {
	if tap, ok := e.Conn.(*wiretap); ok {
		if tcp, ok := tap.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	_ = e.Conn.Close()
}

// JSON is a valid answer with this status and body.
func JSON(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
}

// OK answers correctly, as a receiver without faults does.
var OK = Answering("ok", JSON(200, `{"ok":true}`))

// Playing calls play with a request and then closes the connection.
func Playing(name string, play func(*Exchange)) Fault { return Fault{Name: name, play: play} }

// Answering reads the whole request and sends this text; the connection stays open.
func Answering(name, text string) Fault {
	return Fault{Name: name, keep: true, play: func(x *Exchange) {
		x.ReadAll()
		x.Write(text)
	}}
}

// Closing is Answering, and closes the connection after the text.
func Closing(name, text string) Fault {
	f := Answering(name, text)
	f.keep = false
	return f
}

// Stalling reads the whole request, sends this text and then nothing more.
func Stalling(name, text string) Fault {
	return Fault{Name: name, Stalls: true, play: func(x *Exchange) {
		x.ReadAll()
		x.Write(text)
		x.Hold()
	}}
}

// trickle is the pause between two bytes of an answer that never ends.
const trickle = 5 * time.Millisecond

func trickling(x *Exchange) {
	x.ReadAll()
	x.Write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
	tick := time.NewTicker(trickle)
	defer tick.Stop()
	for range tick.C {
		if _, err := io.WriteString(x.Conn, " "); err != nil {
			return
		}
	}
}

func flooding(x *Exchange) {
	x.ReadAll()
	for range 1000 {
		if _, err := io.WriteString(x.Conn, "HTTP/1.1 102 Processing\r\n\r\n"); err != nil {
			return
		}
	}
	x.Write(JSON(200, "{}"))
}

func chunked(chunks string) string {
	return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
}

func header(lines string) string {
	return "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 2\r\n\r\n{}"
}

// Deep is JSON nested this deep.
func Deep(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// CutTLS ends the connection below TLS, as a receiver that dies does: its end is a TCP one, without the alert that closes TLS.
func (e *Exchange) CutTLS() {
	tap, ok := e.Conn.(*wiretap)
	if !ok {
		return
	}
	if secured, ok := tap.Conn.(*tls.Conn); ok {
		_ = secured.NetConn().Close()
	}
}
