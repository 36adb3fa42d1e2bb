package oidc

import (
	"fmt"
	"net/http"
)

// maxAnswer bounds how much of a provider's answer is read: descriptions, keys and tokens
// have some kilobytes.
const maxAnswer = 1 << 20

// maxError bounds what a provider may write into the log.
const maxError = 300

// bounded is a transport on which reading more than maxAnswer of an answer fails: the
// libraries read whole bodies.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxAnswer)
	}
	return res, err
}

// clipped shortens a long error for the log.
func clipped(err error) error {
	if text := err.Error(); len(text) > maxError {
		return fmt.Errorf("%.*q…", maxError, text)
	}
	return err
}
