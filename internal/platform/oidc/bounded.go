package oidc

import (
	"fmt"
	"net/http"
)

// maxAnswer is how much of an answer of the provider is read: descriptions, keys and
// tokens are some kilobytes.
const maxAnswer = 1 << 20

// maxError bounds what a provider may write into the log.
const maxError = 300

// bounded gives requests to the provider whose answers end with an error beyond
// maxAnswer: the libraries read all that comes.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxAnswer)
	}
	return res, err
}

// clipped is what of an error goes into the log.
func clipped(err error) error {
	if text := err.Error(); len(text) > maxError {
		return fmt.Errorf("%.*q…", maxError, text)
	}
	return err
}
