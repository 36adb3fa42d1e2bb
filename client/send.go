package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/countersign/countersign"
)

// Request is one request below the prefix, for operations without a method in this package.
type Request struct {
	Method string
	Path   string // below the prefix, escaped: "/runs/run-1"
	Query  url.Values
	Body   any // sent as JSON, []byte unchanged; nil: no body
	Header http.Header

	// IdempotencyKey makes it safe to repeat a run start.
	IdempotencyKey string
}

// Response is a complete answer with any status.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// errAnswerTooLarge is the error for an answer larger than any of the service.
var errAnswerTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxAnswerBytes>>20)

// Send sends a request and repeats it if that is safe. An answer of any status is no error; a
// [ConnectionError] means that no answer came.
func (c *Client) Send(ctx context.Context, q Request) (*Response, error) {
	body, err := encode(q.Body)
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		a, err := c.exchange(ctx, q, body)
		wait, again := c.repeats(q, attempt, a, err)
		if !again || ctx.Err() != nil || !pause(ctx, wait) {
			return a, err
		}
	}
}

func encode(body any) ([]byte, error) {
	switch body := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return body, nil
	default:
		return countersign.Marshal(body)
	}
}

// exchange sends one request and reads its whole answer.
func (c *Client) exchange(ctx context.Context, q Request, body []byte) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := c.request(ctx, q, body)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, lost(q, err)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1))
	_ = res.Body.Close()
	if err == nil && len(text) > maxAnswerBytes {
		err = errAnswerTooLarge
	}
	if err != nil {
		return nil, lost(q, err)
	}
	return &Response{Status: res.StatusCode, Header: res.Header, Body: text}, nil
}

// lost is the error of an exchange without an answer. It leaves out the URL that net/http adds,
// since it names method and path itself.
func lost(q Request, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &ConnectionError{Method: q.Method, Path: q.Path, IdempotencyKey: q.IdempotencyKey, Err: err}
}

func (c *Client) request(ctx context.Context, q Request, body []byte) (*http.Request, error) {
	target := c.base + q.Path
	if len(q.Query) > 0 {
		target += "?" + q.Query.Encode()
	}
	var reader io.Reader
	if q.Body != nil {
		reader = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, target, reader)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("Accept", "application/json")
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	c.authorize(r.Header)
	if q.IdempotencyKey != "" {
		r.Header.Set("Idempotency-Key", q.IdempotencyKey)
	}
	for name, values := range q.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return r, nil
}

// call sends a request whose answer is a T.
func call[T any](ctx context.Context, c *Client, q Request) (*T, error) {
	v, _, err := answered[T](ctx, c, q)
	return v, err
}

func answered[T any](ctx context.Context, c *Client, q Request) (*T, *Response, error) {
	a, err := c.Send(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if a.Status < 200 || a.Status > 299 {
		return nil, a, refusalOf(q, a)
	}
	v := new(T)
	if err := decode(a.Body, v); err != nil {
		return nil, a, lost(q, fmt.Errorf("the answer can't be read: %w", err))
	}
	return v, a, nil
}
