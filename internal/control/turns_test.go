package control_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/store"
)

// gated is a store whose snapshots last until they are let go, and which counts those
// under way.
type gated struct {
	store.Store
	gate  chan bool // nil: they last no time
	mu    sync.Mutex
	under int
	most  int // under way at once
}

// count counts a snapshot that begins (1), or one that ends (-1).
func (g *gated) count(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under += n
	g.most = max(g.most, g.under)
}

func (g *gated) View(ctx context.Context, fn func(store.Tx) error) error {
	if g.gate == nil || ctx.Value(passing{}) != nil {
		return g.Store.View(ctx, fn)
	}
	g.count(1)
	defer g.count(-1)
	<-g.gate
	return g.Store.View(ctx, fn)
}

// passing marks the context of one who need not wait at the gate.
type passing struct{}

// turn is a piece of work of a tenant, and the order in which those came to their end.
type turn struct {
	tenant string
	work   func() error
}

// inTurn begins pieces of work one after the other while nothing can go on, lets
// everything go on, and gives the tenants in the order in which their work ended.
func (f *fixture) inTurn(g *gated, list ...turn) (ended []string) {
	f.t.Helper()
	g.gate = make(chan bool)
	var mu sync.Mutex
	var all sync.WaitGroup
	var failed error // told by this goroutine alone: Fatal ends the one that calls it
	for _, p := range list {
		all.Go(func() {
			err := p.work()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", p.tenant, err))
			}
			ended = append(ended, p.tenant)
		})
		synctest.Wait()
	}
	done := make(chan bool)
	go func() { all.Wait(); close(done) }()
	for {
		synctest.Wait() // one step at a time
		select {
		case g.gate <- true:
		case <-done:
			g.gate = nil
			if failed != nil {
				f.t.Fatalf("%v", failed)
			}
			return ended
		}
	}
}

// TestVerificationsAndExportsReadOneSpanAtATime, the tenants in turn: whoever asks for
// however many leaves the other readers to everybody.
func TestVerificationsAndExportsReadOneSpanAtATime(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		for i := range 250 { // more than one part of an export
			h.must(h.putModel(as("acme"), "more"+strconv.Itoa(i), 0))
		}
		g := &gated{Store: h.store.Store}
		h.store.Store = g
		verify := func(tenant string) turn {
			return turn{tenant, func() error {
				v, err := h.service.VerifyAudit(background, as(tenant), false)
				if err == nil && !v.Intact {
					t.Errorf("%+v", v)
				}
				return err
			}}
		}
		export := func(tenant string) turn {
			return turn{tenant, func() error {
				_, err := h.service.ExportAudit(background, as(tenant), audit.Filter{}, nil, false, func([]byte) error { return nil })
				return err
			}}
		}
		ended := h.inTurn(g, export("acme"), export("acme"), verify("acme"), verify("acme"), export("acme"), verify("beta"))
		if n := g.most; n > 1 {
			t.Errorf("%d readers of the store at once", n)
		}
		if ended[len(ended)-1] == "beta" {
			t.Errorf("beta's short log waited for all of acme's: %v", ended)
		}
		h.service.Close()
	})
}

// TestWhatCostsAProcessorTakesTurnsByTenant: however much of one tenant's waits, none of them
// holds the last turn, so another's waits for nobody.
func TestWhatCostsAProcessorTakesTurnsByTenant(t *testing.T) {
	beta := as("beta")
	for what, work := range map[string]func(ctx context.Context, h *fixture) error{
		"a simulation": func(ctx context.Context, h *fixture) error {
			_, err := h.service.Simulate(ctx, beta, "m1", countersign.SimulationRequest{ScenarioID: "s"})
			return err
		},
		"a validation": func(ctx context.Context, h *fixture) error {
			_, err := h.service.ValidateModel(ctx, beta, "m1")
			return err
		},
		"a plan of a scenario": func(ctx context.Context, h *fixture) error {
			_, err := h.service.CompilePlan(ctx, beta, "m1", countersign.CompileRequest{ScenarioID: "s"})
			return err
		},
	} {
		inBubble(t, func() {
			h := open(t)
			g := &gated{Store: h.store.Store, gate: make(chan bool)}
			h.store.Store = g
			var all sync.WaitGroup
			for range 24 {
				all.Go(func() { _, _ = h.service.Receipt(background, as("acme"), "run-none") }) // reads at its turn
			}
			synctest.Wait()
			if n := g.most; n != 1 {
				t.Errorf("%d of one tenant at once", n)
			}
			ended := false
			all.Go(func() {
				err := work(context.WithValue(background, passing{}, true), h)
				ended = countersign.ErrorCode(err) != countersign.CodeUnavailable
			})
			synctest.Wait()
			if !ended {
				t.Errorf("%s waits for another tenant's work", what)
			}
			close(g.gate)
			all.Wait()
			h.service.Close()
		})
	}
}
