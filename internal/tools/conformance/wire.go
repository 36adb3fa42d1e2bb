package conformance

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// wire sends each message once, on its own connection. Like the service it follows no
// redirect, uses no proxy, keeps no cookies and asks for no compression. net/http repeats a
// request by itself only on a reused connection.
type wire struct {
	client *http.Client
	base   *url.URL
}

func newWire(base *url.URL) wire {
	return wire{base: base, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		},
	}}
}

// moments are hooks at certain points of an exchange.
type moments struct {
	connected func() // after the connection is made, before anything is sent
	written   func() // after the whole request was sent
}

// exchange sends a message and reads its answer within the timeout.
func (w wire) exchange(ctx context.Context, m message, timeout time.Duration, at moments) answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var connected bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			connected = true
			if at.connected != nil {
				at.connected()
			}
		},
		WroteRequest: func(sent httptrace.WroteRequestInfo) {
			if at.written != nil && sent.Err == nil {
				at.written()
			}
		},
	})
	resp, err := w.client.Do(w.request(ctx, m))
	if err != nil {
		return answer{connected: connected, flaw: flawOf(err, timeout)}
	}
	defer func() { _ = resp.Body.Close() }()
	return read(resp)
}

// request makes the HTTP request. URL.Opaque keeps the bytes of the target, which are signed.
func (w wire) request(ctx context.Context, m message) *http.Request {
	var body io.Reader
	if m.body != "" {
		body = strings.NewReader(m.body)
	}
	r, err := http.NewRequestWithContext(ctx, m.method, w.base.String(), body)
	if err != nil { // impossible: New parsed the address, and Build chose the method
		panic("conformance: " + err.Error())
	}
	r.URL = &url.URL{Scheme: w.base.Scheme, Host: w.base.Host, Opaque: m.target}
	r.Header = m.headers.Clone()
	return r
}

// meetTime bounds how long one of two calls waits for the other's connection: a receiver may
// serve one connection at a time.
const meetTime = time.Second

// meeting returns a barrier for n calls. A call also passes it after meetTime.
func meeting(n int32) func() {
	var arrived atomic.Int32
	all := make(chan struct{})
	return func() {
		if arrived.Add(1) == n {
			close(all)
		}
		t := time.NewTimer(meetTime)
		defer t.Stop()
		select {
		case <-all:
		case <-t.C:
		}
	}
}
