package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/countersign/countersign"
)

// caller is one identity at the API. The demo has no other way to the service
// than the one that everybody has.
type caller struct {
	http  *http.Client
	base  string // with the version prefix
	token string
}

// callBound is the longest that one answer may take.
const callBound = 90 * time.Second

// ask makes one request and reads its answer; a refusal is a [countersign.Error].
func ask[T any](ctx context.Context, c caller, method, path string, body any) (answer T, err error) {
	_, err = c.send(ctx, method, path, "", body, &answer)
	return answer, err
}

// order asks for a run: where, under which key, and what is sent.
type order struct {
	path, key string
	body      any
}

func runOf(planID, key string) order {
	return order{"/runs", key, countersign.RunStart{PlanID: planID}}
}

// start starts a run, or finds the one that the key started before.
func (c caller) start(ctx context.Context, o order) (r countersign.Run, replayed bool, err error) {
	header, err := c.send(ctx, "POST", o.path, o.key, o.body, &r)
	return r, header.Get("Idempotency-Replayed") == "true", err
}

func (c caller) send(ctx context.Context, method, path, key string, body, into any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err == nil {
		err = refusalOf(res.StatusCode, answer)
	}
	if err != nil {
		return res.Header, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return res.Header, json.Unmarshal(answer, into)
}

func (c caller) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = countersign.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

func refusalOf(status int, answer []byte) error {
	if status < 300 {
		return nil
	}
	var refusal struct {
		Error   countersign.Code `json:"error"`
		Message string           `json:"message"`
	}
	if err := json.Unmarshal(answer, &refusal); err != nil {
		return fmt.Errorf("status %d: %w", status, err)
	}
	return &countersign.Error{Code: refusal.Error, Message: refusal.Message}
}
