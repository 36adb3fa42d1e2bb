package issuer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/countersign/countersign/internal/platform/dialing"
)

// Bounds of what an issuer answers.
const (
	maxAnswer  = 1 << 20
	maxHeaders = 64 << 10
)

// HTTP reads documents of the listed issuers as calls to projects are made (contract 8): no
// redirects, no proxy, no compression, TLS from 1.2 on, and only addresses that may be dialed for
// the host. Each question is a connection of its own: there are few.
func HTTP(entries []Entry) Fetch {
	listed := hostsOf(entries)
	client := &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err != nil || !slices.Contains(listed, host) {
					host = "" // where an issuer says its keys are: no address of this machine is meant
				}
				d := net.Dialer{ControlContext: guard(host)}
				return d.DialContext(ctx, network, address)
			},
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableKeepAlives: true, DisableCompression: true,
			ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: maxHeaders,
		},
	}
	return func(ctx context.Context, address string) (a Answer, err error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return a, err
		}
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Accept-Encoding", "identity")
		res, err := client.Do(r)
		if err != nil {
			return a, clipped(err)
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			return a, fmt.Errorf("%s answers %d; redirects are not followed", address, res.StatusCode)
		}
		a.Body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
		switch {
		case err != nil:
			return a, clipped(err)
		case len(a.Body) > maxAnswer:
			return a, fmt.Errorf("%s answers more than %d bytes", address, maxAnswer)
		}
		a.Date, _ = time.Parse(http.TimeFormat, res.Header.Get("Date"))
		return a, nil
	}
}

// guard sees the very address that is about to be connected to, after the name was resolved.
func guard(host string) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !dialing.Allowed(to.Addr(), host) {
			return errors.New("its address is not allowed")
		}
		return nil
	}
}

// maxError bounds what an error quotes of what an issuer sent.
const maxError = 300

func clipped(err error) error {
	if text := err.Error(); len(text) > maxError {
		return fmt.Errorf("%.*q…", maxError, text)
	}
	return err
}
