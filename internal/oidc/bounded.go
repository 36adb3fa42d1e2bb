package oidc

import (
	"fmt"
	"io"
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
		res.Body = &boundedBody{ReadCloser: res.Body, left: maxAnswer}
	}
	return res, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader. The byte beyond the bound is asked for, so that an answer of
// exactly that size is read whole.
func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > b.left {
		return b.left, fmt.Errorf("the provider's answer is larger than %d bytes", maxAnswer)
	}
	b.left -= n
	return n, err
}

// clipped is what of an error goes into the log.
func clipped(err error) error {
	if text := err.Error(); len(text) > maxError {
		return fmt.Errorf("%.*q…", maxError, text)
	}
	return err
}
