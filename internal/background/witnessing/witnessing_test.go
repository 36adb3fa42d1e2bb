package witnessing_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/tools/witness"
)

// bed is an installation with one tenant, acme, and a clock.
type bed struct {
	t     *testing.T
	store store.Store
	now   time.Time
	key   *records.LogKey
	log   bytes.Buffer
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, store: memory.New(), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), key: &records.LogKey{Installation: "inst-1", Seed: bytes.Repeat([]byte{3}, ed25519.SeedSize)}}
	b.update(func(tx store.Tx) error {
		_, err := records.LogKeys.Put(tx, store.Realm, records.LogKeyID, b.key, 0)
		if err == nil {
			_, err = records.Tenants.Put(tx, store.Realm, "acme", &countersign.Tenant{ID: "acme"}, 0)
		}
		return err
	})
	return b
}

func (b *bed) update(fn func(tx store.Tx) error) {
	b.t.Helper()
	if err := b.store.Update(context.Background(), fn); err != nil {
		b.t.Fatal(err)
	}
}

// grow appends records to acme's log, of one story or another.
func (b *bed) grow(n int, story string) {
	b.t.Helper()
	b.update(func(tx store.Tx) error {
		var more []countersign.AuditRecord
		for range n {
			more = append(more, countersign.AuditRecord{At: b.now, Actor: "user:a", Action: "x", Subject: story, Outcome: countersign.AuditDone})
		}
		return audit.Append(tx, "acme", more)
	})
}

// door is an HTTP server of a witness, which a test may put in the way of.
type door struct {
	witnessing.Witness
	asked atomic.Int64
	way   func(rw http.ResponseWriter, r *http.Request, body string) bool // true: it has answered
}

func (b *bed) witness(dir, name string) *door {
	b.t.Helper()
	w, err := witness.Open(dir, name, []checkpoint.Key{checkpoint.NewSigner(b.key.Origin("acme"), b.key.Seed).Key}, func() time.Time { return b.now })
	if err != nil {
		b.t.Fatal(err)
	}
	d := &door{}
	inner := witness.Handler(w, slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		d.asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		if d.way != nil && d.way(rw, r, string(body)) {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(rw, r)
	}))
	b.t.Cleanup(func() { server.Close(); _ = w.Close() })
	key, err := checkpoint.ParseWitnessKey(w.VKey())
	if err != nil {
		b.t.Fatal(err)
	}
	d.Witness = witnessing.Witness{URL: server.URL, Key: key}
	return d
}

// process is a submitter of the installation, as one process makes it.
func (b *bed) process(doors ...*door) *witnessing.Submitter {
	log := slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := witnessing.Config{Client: http.DefaultClient, Now: func() time.Time { return b.now }, Log: log, Unreadable: unreadable.New(log)}
	for _, d := range doors {
		cfg.Witnesses = append(cfg.Witnesses, d.Witness)
	}
	return witnessing.New(cfg, b.store)
}

// rewound are the witnesses that contradict a log, as it is recorded.
func (b *bed) rewound() (names []string) {
	b.t.Helper()
	err := b.store.View(context.Background(), func(tx store.Tx) error {
		found, err := records.Rewinds.List(tx, store.Realm, records.EachRewound())
		names = nil
		for _, r := range found {
			name, _, _ := strings.Cut(r.Witness, "+")
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return names
}

func (b *bed) round(s *witnessing.Submitter, doors ...*door) {
	s.Look(context.Background())
	for at := range doors {
		s.Submit(context.Background(), at)
	}
}

// cosigned is the newest kept head of acme's log, and how many of the witnesses have cosigned it.
func (b *bed) cosigned(doors ...*door) (size int64, by int) {
	b.t.Helper()
	err := b.store.View(context.Background(), func(tx store.Tx) error {
		found, err := tx.List(store.Meta, "acme", records.NewestCosigned(0))
		if err != nil || len(found) == 0 {
			return err
		}
		var c records.Cosigned
		if err := records.Decode(found[0], &c); err != nil {
			return err
		}
		head, err := checkpoint.Open(c.Checkpoint, checkpoint.NewSigner(b.key.Origin("acme"), b.key.Seed).Key)
		if err == nil && head.Size != c.Size {
			err = fmt.Errorf("the checkpoint of %d has %d", c.Size, head.Size)
		}
		var keys []checkpoint.Key
		for _, d := range doors {
			keys = append(keys, d.Key)
		}
		size, by = c.Size, len(checkpoint.Cosignatures(c.Checkpoint, keys))
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return size, by
}

func (b *bed) wants(size int64, by int, doors ...*door) {
	b.t.Helper()
	if gotSize, gotBy := b.cosigned(doors...); gotSize != size || gotBy != by {
		b.t.Errorf("the newest cosigned head has %d records, by %d; want %d by %d\n%s", gotSize, gotBy, size, by, b.log.String())
	}
}

// TestAllWitnessesCosignOneHead, which is shown once a minute at most, and at each start.
func TestAllWitnessesCosignOneHead(t *testing.T) {
	b := newBed(t)
	one, two := b.witness(t.TempDir(), "one.example"), b.witness(t.TempDir(), "two.example")
	s := b.process(one, two)
	b.round(s, one, two)
	b.wants(0, 0)
	b.grow(5, "a")
	b.round(s, one, two)
	b.wants(5, 2, one, two)
	b.grow(300, "a")
	b.round(s, one, two)
	b.wants(5, 2, one, two)
	b.now = b.now.Add(time.Minute)
	b.round(s, one, two)
	b.wants(305, 2, one, two)
	asked := one.asked.Load()
	b.now = b.now.Add(time.Hour)
	b.round(s, one, two)
	if one.asked.Load() != asked {
		t.Error("a log that hasn't grown is shown again")
	}
	b.round(b.process(one, two), one, two)
	if one.asked.Load() == asked {
		t.Error("a start doesn't show a log that hasn't grown")
	}
	b.wants(305, 2, one, two)
}

// TestAWitnessThatIsDownKeepsNoOtherFromCosigning, and is asked again a minute later.
func TestAWitnessThatIsDownKeepsNoOtherFromCosigning(t *testing.T) {
	b := newBed(t)
	one, two := b.witness(t.TempDir(), "one.example"), b.witness(t.TempDir(), "two.example")
	one.way = func(rw http.ResponseWriter, _ *http.Request, _ string) bool {
		http.Error(rw, "down", http.StatusBadGateway)
		return true
	}
	s := b.process(one, two)
	b.grow(5, "a")
	b.round(s, one, two)
	b.wants(5, 1, one, two)
	one.way = nil
	b.round(s, one, two)
	b.wants(5, 1, one, two)
	b.now = b.now.Add(time.Minute)
	b.round(s, one, two)
	b.wants(5, 2, one, two)
	if len(b.rewound()) > 0 {
		t.Error(b.rewound())
	}
}

// TestWhatAWitnessDidNotCosignIsNotKept: lines of another text, of another key, of nothing.
func TestWhatAWitnessDidNotCosignIsNotKept(t *testing.T) {
	for _, lie := range []string{"", "— one.example AAAA\n", strings.Repeat("x", 70<<10), "— one.example " + strings.Repeat("A", 104) + "\n"} {
		b := newBed(t)
		one := b.witness(t.TempDir(), "one.example")
		one.way = func(rw http.ResponseWriter, _ *http.Request, _ string) bool {
			_, _ = io.WriteString(rw, lie)
			return true
		}
		b.grow(5, "a")
		s := b.process(one)
		b.round(s, one)
		b.wants(0, 0)
		if len(b.rewound()) > 0 {
			t.Errorf("a lie of the witness is the log's: %v", b.rewound())
		}
	}
}

// TestAWitnessThatContradictsItselfIsToldOf, and no proof that the log was rewound.
func TestAWitnessThatContradictsItselfIsToldOf(t *testing.T) {
	for want, answers := range map[string][]string{
		"it refuses a proof from 0 to 5, which is none":       {"422 no"},
		"its conflict names no size":                          {"409 x"},
		"it names the size that was submitted from, 0":        {"409 0"},
		"it names another size each time":                     {"409 3", "409 4", "409 2"},
		"it answers 500":                                      {"500 no"},
		"its answer has more than 65536 bytes":                {"200 " + strings.Repeat("x", 70<<10)},
		checkpoint.ErrUnsigned.Error():                        {"200 hello"},
		"the log of 5 records does not go on from the 3 that": {"409 3", "422 no"},
	} {
		b := newBed(t)
		one := b.witness(t.TempDir(), "one.example")
		one.way = func(rw http.ResponseWriter, _ *http.Request, _ string) bool {
			status, body, _ := strings.Cut(answers[(int(one.asked.Load())-1)%len(answers)], " ")
			code := map[string]int{"200": 200, "409": 409, "422": 422, "500": 500}[status]
			rw.WriteHeader(code)
			_, _ = io.WriteString(rw, body+"\n")
			return true
		}
		b.grow(5, "a")
		s := b.process(one)
		b.round(s, one)
		b.wants(0, 0)
		if text := b.log.String(); !strings.Contains(text, want) {
			t.Errorf("%s is not said: %s", want, text)
		}
		if rewound := len(b.rewound()) > 0; rewound != (len(answers) == 2) {
			t.Errorf("%s: the log was rewound: %v", want, rewound)
		}
	}
}

// TestALogThatWasRewoundIsSaidToBe: cut, or told anew with as many records, or with more.
func TestALogThatWasRewoundIsSaidToBe(t *testing.T) {
	for what, records := range map[string]int{"cut": 3, "told anew": 5, "told anew and gone on": 9} {
		b := newBed(t)
		dir := t.TempDir()
		one := b.witness(dir, "one.example")
		b.grow(5, "a")
		b.round(b.process(one), one)
		b.wants(5, 1, one)
		later := newBed(t) // of the same key
		story := "b"
		if what == "cut" {
			story = "a"
		}
		later.grow(records, story)
		s := later.process(one)
		later.round(s, one)
		if got := later.rewound(); len(got) != 1 || got[0] != "one.example" {
			t.Errorf("%s: %v\n%s", what, got, later.log.String())
		}
		if !strings.Contains(later.log.String(), "audit_rewound") {
			t.Errorf("%s: the log doesn't say so: %s", what, later.log.String())
		}
		later.wants(0, 0)
	}
}

// TestTwoReplicasMaySubmit: one is behind the other and says nothing of it.
func TestTwoReplicasMaySubmit(t *testing.T) {
	b := newBed(t)
	one := b.witness(t.TempDir(), "one.example")
	first, second := b.process(one), b.process(one)
	b.grow(5, "a")
	b.round(first, one)
	b.round(second, one)
	for range 4 {
		b.now = b.now.Add(time.Minute)
		b.grow(7, "a")
		second.Look(context.Background())
		b.grow(2, "a")
		first.Look(context.Background())
		first.Submit(context.Background(), 0)
		second.Submit(context.Background(), 0)
	}
	b.wants(41, 1, one)
	if text := b.log.String(); strings.Contains(text, "WARN") || strings.Contains(text, "ERROR") || !strings.Contains(text, "it has cosigned more") {
		t.Error(text)
	}
	if got := b.rewound(); len(got) > 0 {
		t.Errorf("%v\n%s", got, b.log.String())
	}
}

// TestADamagedHeadOfOneTenantKeepsNoOtherLogFromItsWitnesses.
func TestADamagedHeadOfOneTenantKeepsNoOtherLogFromItsWitnesses(t *testing.T) {
	b := newBed(t)
	one := b.witness(t.TempDir(), "one.example")
	b.grow(5, "a")
	b.update(func(tx store.Tx) error {
		_, err := records.Tenants.Put(tx, store.Realm, "aaaa", &countersign.Tenant{ID: "aaaa"}, 0)
		return errors.Join(err, tx.Put(store.AuditHeads, "aaaa", store.Row{ID: "head", Doc: []byte(`{"size":3,"roots":[]}`)}, 0))
	})
	b.round(b.process(one), one)
	b.wants(5, 1, one)
}
