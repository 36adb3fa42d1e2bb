package indexing_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/indexing"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// named finds each run by its id, and counts how often it was asked for one.
type named map[string]int

func (n named) SearchTerms(_ store.Tx, tenant, id string) ([]string, int, error) {
	n[tenant+"/"+id]++
	return []string{records.TermID(records.OpenTerm, id, id, time.Unix(0, 0))}, 0, nil
}

// logged appends to a tenant's log the starts of as many runs.
func logged(t *testing.T, s store.Store, tenant string, n int) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		var recs []countersign.AuditRecord
		for i := range n {
			for _, action := range []string{"runs.start", "run.complete"} {
				recs = append(recs, countersign.AuditRecord{Action: action, Subject: fmt.Sprintf("run/%s-%d", tenant, i), Outcome: countersign.AuditDone})
			}
		}
		return audit.Append(tx, tenant, recs)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// terms are the ids of the runs that a tenant's terms lead to.
func terms(t *testing.T, s store.Store, tenant string) (out []string) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.List(store.Terms, tenant, store.Query{})
		for _, row := range rows {
			out = append(out, records.RunOfTerm(row.ID))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheIndexFollowsEachTenantsLogBehindTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, runs := memory.New(), named{}
		err := s.Update(t.Context(), func(tx store.Tx) error {
			for _, id := range []string{"acme", "marlow"} {
				if _, err := records.Tenants.Put(tx, store.Realm, id, &countersign.Tenant{ID: id}, 0); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		logged(t, s, "acme", 100) // several commits
		logged(t, s, "marlow", 3)
		i := indexing.New(s, runs, time.Minute, slog.New(slog.DiscardHandler), nil)
		i.Start()
		defer i.Stop()
		time.Sleep(59 * time.Second)
		if len(terms(t, s, "acme")) > 0 {
			t.Error("it has begun before its time")
		}
		time.Sleep(10 * time.Second)
		if acme, marlow := terms(t, s, "acme"), terms(t, s, "marlow"); len(acme) != 100 || len(marlow) != 3 || !strings.HasPrefix(marlow[0], "marlow-") {
			t.Errorf("%d of acme, %q", len(acme), marlow)
		}
		logged(t, s, "marlow", 4)
		time.Sleep(10 * time.Second)
		if n := len(terms(t, s, "marlow")); n != 4 {
			t.Errorf("%d of marlow, after one more", n)
		}
	})
}

func TestTheIndexTakesItsStateFromTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, runs := memory.New(), named{}
		err := s.Update(t.Context(), func(tx store.Tx) error {
			_, err := records.Tenants.Put(tx, store.Realm, "acme", &countersign.Tenant{ID: "acme"}, 0)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		logged(t, s, "acme", 10)
		for range 2 { // two processes, one after the other
			i := indexing.New(s, runs, 0, slog.New(slog.DiscardHandler), nil)
			i.Start()
			time.Sleep(10 * time.Second)
			i.Stop()
		}
		for id, n := range runs {
			if n != 1 {
				t.Errorf("%s was read %d times", id, n)
			}
		}
	})
}
