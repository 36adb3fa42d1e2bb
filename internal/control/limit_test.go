package control_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// limitFixture is where strangers try, at processes of which each has the same store.
type limitFixture struct {
	t     *testing.T
	store store.Store
	now   time.Time
}

func newDoor(t *testing.T) *limitFixture {
	return &limitFixture{t: t, store: memory.New(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

// process is one more process.
func (l *limitFixture) process(shared bool) *control.Service {
	cfg := control.Config{Now: func() time.Time { return l.now }, Shared: shared}
	return control.New(cfg, l.store, nil, nil, nil, nil, slog.New(slog.DiscardHandler))
}

// try says whether an attempt may be made.
func (l *limitFixture) try(at *control.Service, from string) bool {
	l.t.Helper()
	err := at.Try(background, from)
	if err != nil && !errors.Is(err, control.ErrTooMany) {
		l.t.Fatal(err)
	}
	return err == nil
}

// records are those of all limits.
func (l *limitFixture) records() (all []records.Limit) {
	l.t.Helper()
	err := l.store.View(background, func(tx store.Tx) (err error) {
		all, err = records.Limits.List(tx, store.Realm, store.Query{})
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

const office = "192.0.2.7"

func TestALimitHoldsForAllProcessesOnAStore(t *testing.T) {
	d := newDoor(t)
	replicas := []*control.Service{d.process(true), d.process(true), d.process(true)}
	tries := func() (allowed int) {
		for n := range 90 {
			if d.try(replicas[n%3], office) {
				allowed++
			}
		}
		return allowed
	}
	for i, want := range []int{20, 1, 1} {
		if got := tries(); got != want {
			t.Errorf("time %d: %d were allowed instead of %d", i, got, want)
		}
		d.now = d.now.Add(30 * time.Second)
	}
	if !d.try(replicas[0], "192.0.2.8") {
		t.Error("another address pays for the first one")
	}
	if d.try(d.process(true), office); d.try(d.process(true), office) {
		t.Error("a new process begins anew")
	}
}

func TestTheOnlyProcessWritesNothingForATry(t *testing.T) {
	d := newDoor(t)
	alone := d.process(false)
	for n := range 25 {
		if d.try(alone, office) != (n < 20) {
			t.Errorf("try %d", n+1)
		}
	}
	if n := len(d.records()); n > 0 {
		t.Errorf("%d records", n)
	}
}

func TestARefusedTryWritesNothing(t *testing.T) {
	d := newDoor(t)
	one, two := d.process(true), d.process(true)
	for range 100 {
		d.try(one, office)
	}
	for range 100 {
		d.try(two, office)
	}
	err := d.store.View(background, func(tx store.Tx) error {
		rows, err := tx.List(store.Meta, store.Realm, store.Query{})
		if err == nil && (len(rows) != 1 || rows[0].Version != 20) {
			t.Errorf("%+v of 200 tries", rows)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStrangersCantFillTheStore(t *testing.T) {
	d := newDoor(t)
	replica := d.process(true)
	for n := range 4000 {
		d.try(replica, fmt.Sprintf("10.0.%d.%d", n/256, n%256))
	}
	if n := len(d.records()); n > 2048 || n < 1500 {
		t.Errorf("%d records for 4000 strangers; they don't share", n)
	}
	d.fill()
	if !d.try(replica, office) {
		t.Error("strangers took the place of somebody who never tried")
	}
	for _, rec := range d.records() {
		if len(rec.Buckets) != 32 {
			t.Fatalf("a record has %d keys", len(rec.Buckets))
		}
	}
	d.now = d.now.Add(time.Minute)
	if !d.try(replica, office) {
		t.Error("what is full again still takes the place")
	}
}

// fill puts as many keys into each record as it may have.
func (l *limitFixture) fill() {
	l.t.Helper()
	full := records.Limit{Buckets: map[string]int64{}}
	for n := range 32 {
		full.Buckets[strconv.Itoa(n)] = l.now.Add(30 * time.Second).UnixMicro()
	}
	err := l.store.Update(background, func(tx store.Tx) error {
		for n := range 2048 {
			id := records.LimitID("trying", fmt.Sprintf("%03x", n))
			_, version, err := records.Limits.Get(tx, store.Realm, id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if _, err := records.Limits.Put(tx, store.Realm, id, &full, version); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func TestRecordsThatHoldNothingGoAsNewOnesCome(t *testing.T) {
	d := newDoor(t)
	replica := d.process(true)
	come := func(network string, many int) {
		for n := range many {
			d.try(replica, fmt.Sprintf("%s.%d.%d", network, n/256, n%256))
		}
	}
	come("10.0", 1000)
	before := len(d.records())
	d.now = d.now.Add(time.Hour)
	come("10.1", 500)
	if after := len(d.records()); after >= before {
		t.Errorf("%d records, and then %d", before, after)
	}
}

// TestOneSubscriberIsOneKey, whichever of its 2⁶⁴ addresses it comes from.
func TestOneSubscriberIsOneKey(t *testing.T) {
	d := newDoor(t)
	alone := d.process(false)
	for n := range 20 {
		d.try(alone, fmt.Sprintf("2001:db8:1:2::%x%%eth0", n))
	}
	for from, want := range map[string]bool{
		"2001:db8:1:2:ffff::1": false, "2001:db8:1:3::1": true, "::ffff:" + office: true, "unknown": true,
	} {
		if got := d.try(alone, from); got != want {
			t.Errorf("%s: %v", from, got)
		}
	}
}

// shut is a store that can't write.
type shut struct{ store.Store }

func (shut) Update(context.Context, func(store.Tx) error) error {
	return fmt.Errorf("%w: for a test", store.ErrUnavailable)
}

// TestATryThatCantBeCountedIsRefusedAsUnavailable: the gate isn't open, and nobody
// is told that they were too many.
func TestATryThatCantBeCountedIsRefusedAsUnavailable(t *testing.T) {
	d := newDoor(t)
	d.store = shut{d.store}
	if err := d.process(true).Try(background, office); countersign.ErrorCode(err) != countersign.CodeUnavailable {
		t.Errorf("%v", err)
	}
	if err := d.process(false).Try(background, office); err != nil {
		t.Errorf("the only process: %v", err)
	}
}
