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

// wire sends each message once, on a connection of its own. It follows no
// redirect, asks no proxy, keeps no cookie and asks for no compression, as the
// service. net/http sends a request again only where it used a connection anew.
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

// moments are what is done at certain points of an exchange.
type moments struct {
	connected func() // there is a connection, and nothing was sent
	written   func() // the whole request was sent
}

// exchange sends a message and reads its answer, all within the timeout.
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

// request takes the target as it is: Opaque keeps its bytes, which are signed.
func (w wire) request(ctx context.Context, m message) *http.Request {
	var body io.Reader
	if m.body != "" {
		body = strings.NewReader(m.body)
	}
	r, err := http.NewRequestWithContext(ctx, m.method, w.base.String(), body)
	if err != nil { // New parsed the address, and Build chose the method
		panic("conformance: " + err.Error())
	}
	r.URL = &url.URL{Scheme: w.base.Scheme, Host: w.base.Host, Opaque: m.target}
	r.Header = m.headers.Clone()
	return r
}

// meetTime bounds how long one of two calls waits for the other's connection: a
// receiver may serve one connection at a time.
const meetTime = time.Second

// meeting lets n calls go on only when all have come, or time is up.
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
