package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/outbound"
)

const (
	space       = " \t\r\n"
	maxHead     = 64 << 10
	dialTimeout = 10 * time.Second
)

func trim(body []byte) []byte { return bytes.Trim(bytes.TrimPrefix(body, []byte("\uFEFF")), space) }

// Client makes an HTTP client by the rules of contract 8: no proxies, redirects, cookies or
// compression, TLS 1.2 at least, and none of the addresses that calls never go to. Each request
// has a connection of its own, since net/http sends one again whose reused connection ends.
func Client(caFile string, own *tls.Certificate) (*http.Client, error) {
	secured := &tls.Config{MinVersion: tls.VersionTLS12}
	if own != nil {
		secured.Certificates = []tls.Certificate{*own}
	}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		if secured.RootCAs, err = x509.SystemCertPool(); err != nil {
			secured.RootCAs = x509.NewCertPool()
		}
		if !secured.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", caFile)
		}
	}
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			d := net.Dialer{Timeout: dialTimeout, ControlContext: outbound.DialGuard(host)}
			return d.DialContext(ctx, network, address)
		},
		TLSClientConfig: secured, TLSHandshakeTimeout: dialTimeout,
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHead,
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// Sending makes a context for one request, and what reports whether a byte of it can have left:
// before there is a connection none can.
func Sending(ctx context.Context) (context.Context, func() bool) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	return ctx, connected.Load
}

// ErrTooLarge is an answer of more bytes than are read.
var ErrTooLarge = errors.New("the answer exceeds 1 MiB")

// ReadBody reads a body whole. Where it can't be, what came is returned with the error.
func ReadBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, countersign.MaxBodyBytes+1))
	if len(body) > countersign.MaxBodyBytes {
		return body[:countersign.MaxBodyBytes], ErrTooLarge
	}
	return body, err
}

// Lost says in plain words why no whole answer came. The texts of the network hold addresses.
func Lost(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, ErrTooLarge):
		return ErrTooLarge.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no complete answer came in time"
	default:
		return "the connection ended before a complete answer"
	}
}

// Unreachable says in plain words why there was no connection.
func Unreachable(err error) string {
	var dns *net.DNSError
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dns):
		return "the upstream's name could not be resolved"
	case errors.As(err, &unverified):
		return "the upstream's certificate is not trusted"
	default:
		return "the upstream could not be reached"
	}
}
