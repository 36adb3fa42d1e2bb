package audit

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

var morning = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

const tenant = "acme"

// record is the n-th thing that somebody did.
func record(n int) countersign.AuditRecord {
	return countersign.AuditRecord{
		At: morning.Add(time.Duration(n) * time.Minute), Actor: "token:t-" + strconv.Itoa(n%3), Action: []string{"runs.start", "runs.cancel"}[n%2],
		Subject: "run/r-" + strconv.Itoa(n%5), Outcome: countersign.AuditDone, Before: "", After: "READY", Reason: "<&> é", RequestID: "req-" + strconv.Itoa(n),
	}
}

// journal is a store with a log of n records, appended a few at a time.
func journal(t *testing.T, n int) *memory.Store {
	t.Helper()
	s := memory.New()
	for i := 0; i < n; {
		var batch []countersign.AuditRecord
		for ; i < n && len(batch) <= i%4; i++ {
			batch = append(batch, record(i))
		}
		update(t, s, func(tx store.Tx) error { return Append(tx, tenant, batch) })
	}
	return s
}

func update(t *testing.T, s store.Store, fn func(tx store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s store.Store, fn func(tx store.Tx) error) {
	t.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func verified(t *testing.T, s store.Store) (v countersign.AuditVerification) {
	t.Helper()
	view(t, s, func(tx store.Tx) error {
		var err error
		v, err = Verify(tx, tenant)
		return err
	})
	return v
}

func rows(t *testing.T, s store.Store) (all []store.Row) {
	t.Helper()
	view(t, s, func(tx store.Tx) error {
		var err error
		all, err = tx.List(store.Audit, tenant, store.Query{Order: []store.Order{{Column: "seq"}}})
		return err
	})
	return all
}

func TestEmptyLogIsIntact(t *testing.T) {
	want := countersign.AuditVerification{Intact: true, Head: countersign.SHA256Hex(nil)}
	if diff := cmp.Diff(want, verified(t, memory.New())); diff != "" {
		t.Error(diff)
	}
}

func TestAppendingNothingWritesNothing(t *testing.T) {
	s := memory.New()
	update(t, s, func(tx store.Tx) error { return Append(tx, tenant, nil) })
	view(t, s, func(tx store.Tx) error {
		_, err := tx.Get(store.AuditHeads, tenant, headID)
		if err == nil {
			t.Error("there is a head")
		}
		return nil
	})
}

// TestTreeHashIsThatOfTheStandardLog: for every size, the head that appending
// keeps is what golang.org/x/mod/sumdb/tlog computes from all records.
func TestTreeHashIsThatOfTheStandardLog(t *testing.T) {
	s := journal(t, 0)
	for n := range 71 {
		if n > 0 {
			update(t, s, func(tx store.Tx) error { return Append(tx, tenant, []countersign.AuditRecord{record(n - 1)}) })
		}
		v := verified(t, s)
		if want := standardHash(t, rows(t, s)); !v.Intact || v.Records != int64(n) || v.Head != want {
			t.Fatalf("with %d records: %+v, want head %s", n, v, want)
		}
	}
}

// standardHash hashes a whole log the long way.
func standardHash(t *testing.T, all []store.Row) string {
	t.Helper()
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			out[i] = stored[at]
		}
		return out, nil
	})
	for n, row := range all {
		r := decoded(t, row)
		r.Hash = ""
		bare, err := countersign.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		hashes, err := tlog.StoredHashes(int64(n), bare, read)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, hashes...)
	}
	root, err := tlog.TreeHash(int64(len(all)), read)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(root[:])
}

func TestRecordsAreNumberedAndKeptWhole(t *testing.T) {
	s := journal(t, 9)
	for n, row := range rows(t, s) {
		got, want := decoded(t, row), record(n)
		want.Seq, want.Hash = int64(n), got.Hash
		if diff := cmp.Diff(want, got); diff != "" || len(got.Hash) != 64 || row.ID != fmt.Sprintf("%016d", n) {
			t.Errorf("record %d as %s: %s", n, row.ID, diff)
		}
	}
}

func TestLogsOfTenantsAreApart(t *testing.T) {
	s := journal(t, 3)
	update(t, s, func(tx store.Tx) error { return Append(tx, "acme2", []countersign.AuditRecord{record(0)}) })
	update(t, s, func(tx store.Tx) error { return Append(tx, store.Realm, []countersign.AuditRecord{record(0)}) })
	if v := verified(t, s); !v.Intact || v.Records != 3 {
		t.Errorf("%+v", v)
	}
}

// TestClockSetBackIsMarked: on the first record of the earlier time, and on no
// other, also within one append.
func TestClockSetBackIsMarked(t *testing.T) {
	s := memory.New()
	at := func(minutes ...int) {
		var batch []countersign.AuditRecord
		for _, m := range minutes {
			r := record(0)
			r.At = morning.Add(time.Duration(m) * time.Minute)
			batch = append(batch, r)
		}
		update(t, s, func(tx store.Tx) error { return Append(tx, tenant, batch) })
	}
	at(10)
	at(10, 11)
	at(5)
	at(6, 2, 3)
	var got []bool
	for _, row := range rows(t, s) {
		got = append(got, decoded(t, row).ClockBack)
	}
	if diff := cmp.Diff([]bool{false, false, false, true, false, true, false}, got); diff != "" {
		t.Error(diff)
	}
	if v := verified(t, s); !v.Intact {
		t.Errorf("%+v", v)
	}
}

// waiting is a Tx of a function that runs before its turn.
type waiting struct {
	store.Tx
	left *[]func(store.Tx, time.Duration) error
}

// AtTurn implements store.Turner.
func (w waiting) AtTurn(fn func(store.Tx, time.Duration) error) bool {
	*w.left = append(*w.left, fn)
	return true
}

// TestARecordThatWaitedForItsTurnIsNotMarked: what others recorded meanwhile is later, and no
// clock was set back by that.
func TestARecordThatWaitedForItsTurnIsNotMarked(t *testing.T) {
	for name, c := range map[string]struct {
		waited time.Duration
		marked bool
	}{"long enough": {time.Minute, false}, "too short": {time.Minute - 1, true}} {
		s := memory.New()
		var left []func(store.Tx, time.Duration) error
		update(t, s, func(tx store.Tx) error {
			return Append(waiting{tx, &left}, tenant, []countersign.AuditRecord{record(0)})
		})
		update(t, s, func(tx store.Tx) error { return Append(tx, tenant, []countersign.AuditRecord{record(1)}) })
		update(t, s, func(tx store.Tx) error { return left[0](tx, c.waited) })
		all := rows(t, s)
		if len(all) != 2 {
			t.Fatalf("%s: %d records", name, len(all))
		}
		if late := decoded(t, all[1]); late.Reason != record(0).Reason || late.RequestID != "req-0" || late.ClockBack != c.marked {
			t.Errorf("%s: %+v", name, late)
		}
	}
}
