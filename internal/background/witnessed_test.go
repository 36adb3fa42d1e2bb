package background_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// cosigner is a witness that cosigns all that it is shown.
type cosigner struct {
	checkpoint.Cosigner
	mu   sync.Mutex
	seen []string // origins
}

func (c *cosigner) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	text := checkpoint.Text(string(body))
	origin, _, _ := strings.Cut(text, "\n")
	c.mu.Lock()
	c.seen = append(c.seen, origin)
	c.mu.Unlock()
	line, err := checkpoint.Cosign(text, c.Cosigner)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(line)), Header: http.Header{}}, err
}

// witnesses has the head of each log cosigned.
func (w *world) witnesses() (done []string) {
	key := &records.LogKey{Installation: "inst-1", Seed: bytes.Repeat([]byte{1}, ed25519.SeedSize)}
	w.update(func(tx store.Tx) error {
		_, version, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
		if err == nil {
			return nil
		}
		_, err = records.LogKeys.Put(tx, store.Realm, records.LogKeyID, key, version)
		return err
	})
	c := &cosigner{Cosigner: checkpoint.NewCosigner("w.example", key.Seed, time.Now().Unix())}
	s := witnessing.New(witnessing.Config{
		Witnesses: []witnessing.Witness{{URL: "http://w.example", Key: c.Key}}, Client: &http.Client{Transport: c}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Unreadable: w.aside,
	}, w.store)
	s.Look(context.Background())
	s.Submit(context.Background(), 0)
	for _, tenant := range []string{"acme", "beta"} {
		for _, origin := range c.seen {
			if origin == key.Origin(tenant) {
				done = append(done, tenant+"/log")
			}
		}
	}
	return done
}
