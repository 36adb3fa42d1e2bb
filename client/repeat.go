package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstPause = 200 * time.Millisecond
	maxPause   = 10 * time.Second
	maxAsked   = 30 * time.Second // after a longer Retry-After the error is returned to the caller
)

// repeats decides whether a request is sent again, and after which time: reads and run starts with
// a key after a lost connection, any request after a 503 with Retry-After.
func (c *Client) repeats(q Request, attempt int, a *Response, err error) (wait time.Duration, again bool) {
	if attempt >= c.retries {
		return 0, false
	}
	harmless := q.Method == http.MethodGet || q.Method == http.MethodHead || q.IdempotencyKey != ""
	var connection *ConnectionError
	switch {
	case err != nil:
		return backOff(attempt), harmless && errors.As(err, &connection) && !errors.Is(err, errAnswerTooLarge)
	case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		wait, ok := askedPause(a.Header.Get("Retry-After"))
		return max(wait, backOff(attempt)), ok
	case a.Status == http.StatusBadGateway || a.Status == http.StatusServiceUnavailable || a.Status == http.StatusGatewayTimeout:
		return backOff(attempt), harmless // an answer of a proxy, not of the service
	default:
		return 0, false
	}
}

// backOff doubles from 200 ms to 10 s. Half of it is random, so that many clients don't return at
// once.
func backOff(attempt int) time.Duration {
	d := min(firstPause<<min(attempt, 10), maxPause)
	return d/2 + rand.N(d/2)
}

func askedPause(text string) (time.Duration, bool) {
	seconds, err := strconv.Atoi(text)
	d := time.Duration(seconds) * time.Second
	return d, err == nil && seconds >= 0 && d <= maxAsked
}

// pause waits for d; it returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
