package control_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// needles makes runs whose step has a common word and so many bytes besides, and indexes them.
func (f *fixture) needles(a control.Actor, runs, bytes int) {
	f.t.Helper()
	for i := range runs {
		id := f.startedOn(a, a.Tenant+"-one")
		f.must(f.store.Update(background, func(tx store.Tx) error {
			steps := records.Steps(id, 0, "")
			step, version, err := steps.Get(tx, a.Tenant, records.StepID(id, 0))
			if err != nil {
				return err
			}
			step.Input = map[string]countersign.Value{"word": countersign.String("needle"), "nth": countersign.String(fmt.Sprint("needle-", i)), "rest": countersign.String(strings.Repeat("x ", bytes/2))}
			if _, err := steps.Put(tx, a.Tenant, records.StepID(id, 0), step, version); err != nil {
				return err
			}
			r, version, err := records.Runs.Get(tx, a.Tenant, id)
			if err == nil {
				_, err = records.Runs.Put(tx, a.Tenant, id, r, version)
			}
			return err
		}))
		var terms []string
		f.must(f.store.View(background, func(tx store.Tx) (err error) {
			terms, _, err = f.service.SearchTerms(tx, a.Tenant, id)
			return err
		}))
		f.must(f.store.Update(background, func(tx store.Tx) error {
			for _, term := range terms {
				if _, err := records.Terms.Add(tx, a.Tenant, term, &records.Term{}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// startedOn is a run of one step of a project that asks for an approval.
func (f *fixture) startedOn(a control.Actor, project string) string {
	f.t.Helper()
	p, err := f.service.CreatePlan(background, a, countersign.PlanWrite{
		Name: "Refund", ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeLive, Steps: []countersign.Step{{ID: "s", ProjectID: project, Capability: "ping"}},
	})
	f.must(err)
	started, err := f.service.StartRun(background, a, countersign.RunStart{PlanID: p.ID}, f.newID("key"))
	f.must(err)
	return started.Run.ID
}

// largest is a store that knows how many bytes of documents a View read at most, and ends its
// caller in a View, if it is to.
type largest struct {
	store.Store
	most, all int
	ends      func()
}

func (l *largest) View(ctx context.Context, fn func(store.Tx) error) error {
	return l.Store.View(ctx, func(tx store.Tx) error {
		var read reads
		err := fn(countingTx{tx, &read, false})
		l.most, l.all = max(l.most, read.bytes), l.all+read.bytes
		if l.ends != nil && read.bytes > largeRun {
			l.ends()
		}
		return err
	})
}

const largeRun = 300 << 10 // more than is kept in memory

// TestASearchReadsItsRunsInSpans, and so does a list by a text: no read of the store is larger
// than a span and the run that reaches its end, and everything is found.
func TestASearchReadsItsRunsInSpans(t *testing.T) {
	h := open(t)
	h.needles(as("acme"), 24, largeRun)
	l := &largest{Store: h.store.Store}
	h.store.Store = l
	found, err := h.service.Search(background, as("acme"), "needle")
	h.must(err)
	page, err := h.service.Runs(background, as("acme"), control.List{Limit: 1}, control.RunFilter{Text: "needle"})
	h.must(err)
	if len(found.Items) != 20 || page.Total != 24 || len(page.Items) != 1 || page.NextOffset == nil {
		t.Errorf("%d hits, %d of %d runs", len(found.Items), len(page.Items), page.Total)
	}
	if most := 1<<19 + 3*largeRun; l.most > most {
		t.Errorf("a read of the store had %d bytes, more than %d", l.most, most)
	}
}

// TestASearchEndsWithItsCaller: what it would have read is left unread.
func TestASearchEndsWithItsCaller(t *testing.T) {
	h := open(t)
	h.needles(as("acme"), 24, largeRun)
	l := &largest{Store: h.store.Store}
	h.store.Store = l
	ctx, cancel := context.WithCancel(background)
	l.ends = cancel
	_, err := h.service.Runs(ctx, as("acme"), control.List{Limit: 1}, control.RunFilter{Text: "needle"})
	if countersign.ErrorCode(err) != countersign.CodeUnavailable || l.all > 8*largeRun {
		t.Errorf("%v; %d bytes were read", err, l.all)
	}
}

// TestTenantsTakeTurnsAtSearches: one whose runs are large and who searches again and again
// keeps the search of another no longer than a span.
func TestTenantsTakeTurnsAtSearches(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		h.needles(as("acme"), 12, largeRun)
		h.needles(as("beta"), 1, 100)
		g := &gated{Store: h.store.Store}
		h.store.Store = g
		search := func(tenant string) turn {
			return turn{tenant, func() error {
				_, err := h.service.Search(background, as(tenant), "needle")
				return err
			}}
		}
		ended := h.inTurn(g, search("acme"), search("acme"), search("acme"), search("acme"), search("beta"))
		if ended[0] != "beta" {
			t.Errorf("beta's search of one small run waited for others: %v", ended)
		}
	})
}

// held is a store whose Views of one tenant last until they are let go.
type held struct {
	store.Store
	let   chan bool
	mu    sync.Mutex
	under int
}

type holding struct{}

func (h *held) View(ctx context.Context, fn func(store.Tx) error) error {
	if ctx.Value(holding{}) != nil {
		h.mu.Lock()
		h.under++
		h.mu.Unlock()
		<-h.let
	}
	return h.Store.View(ctx, fn)
}

// TestNoTenantHasAllReaders: whatever takes long for one, and however often it is asked for,
// leaves a reader of the store to the others.
func TestNoTenantHasAllReaders(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		g := &held{Store: h.store.Store, let: make(chan bool)}
		h.store.Store = g
		long := context.WithValue(background, holding{}, true)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, err := h.service.Runs(long, as("acme"), control.List{Limit: 1}, control.RunFilter{})
				h.must(err)
			})
		}
		synctest.Wait()
		if g.under != 3 {
			t.Errorf("acme reads %d at once, of 4", g.under)
		}
		_, err := h.service.Runs(background, as("beta"), control.List{Limit: 1}, control.RunFilter{})
		h.must(err)
		close(g.let)
		all.Wait()
	})
}
