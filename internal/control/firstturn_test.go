package control_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
)

// firstTurns is a driver that begins runs in the transactions that make them.
type firstTurns struct {
	*fixture
	fails  error // of a first turn
	stops  bool  // no run is begun
	begun  []string
	gone   []string
	left   []string // dropped
	driven []string
}

type firstTurn struct {
	of  *firstTurns
	run string
}

func (f *firstTurn) Go()   { f.of.gone = append(f.of.gone, f.run) }
func (f *firstTurn) Drop() { f.of.left = append(f.of.left, f.run) }

func (f *firstTurns) Drive(moved *runrepo.LoadedRun) { f.driven = append(f.driven, moved.Ref.RunID) }

func (f *firstTurns) Begin(tx store.Tx, made *runrepo.LoadedRun) (runrepo.Begun, error) {
	if f.stops {
		return nil, nil
	}
	f.begun = append(f.begun, made.Ref.RunID)
	_, err := f.repository.Apply(tx, made.Ref, made, run.Resumed{}, runrepo.System)
	if err := errors.Join(err, f.fails); err != nil {
		return nil, err
	}
	return &firstTurn{f, made.Ref.RunID}, nil
}

// beginning is a fixture whose starts begin their runs.
func beginning(t *testing.T) *firstTurns {
	t.Helper()
	f := &firstTurns{fixture: open(t)}
	f.service = f.begin(f.store)
	return f
}

func (f *firstTurns) begin(s store.Store) *control.Service {
	return control.New(f.cfg, s, f.repository, f, &updates.Hub{}, healthyProber{f.fixture}, slog.New(slog.DiscardHandler))
}

func (f *firstTurns) plan() countersign.Plan {
	f.t.Helper()
	p, err := f.service.CreatePlan(background, as("acme"), countersign.PlanWrite{
		Name: "Refund", ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeLive, Steps: []countersign.Step{{ID: "s", ProjectID: "acme-one", Capability: "ping"}},
	})
	f.must(err)
	return p
}

// wantSettled: each run that was begun was told to go on or dropped, once.
func (f *firstTurns) wantSettled() {
	f.t.Helper()
	if all := slices.Sorted(slices.Values(slices.Concat(f.gone, f.left))); f.fails == nil && !slices.Equal(all, slices.Sorted(slices.Values(f.begun))) {
		f.t.Fatalf("begun %v, went on %v, dropped %v", f.begun, f.gone, f.left)
	}
}

// TestAStartBeginsItsRun in its own commit, and answers with the run as it was made.
func TestAStartBeginsItsRun(t *testing.T) {
	f := beginning(t)
	p, before := f.plan(), f.store.updates.Load()
	started, err := f.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, "key")
	f.must(err)
	if n := f.store.updates.Load() - before; n != 1 || started.Run.Status != countersign.RunReady {
		t.Errorf("%d commits, %s", n, started.Run.Status)
	}
	if !slices.Equal(f.gone, []string{started.Run.ID}) || len(f.driven) != 0 {
		t.Errorf("went on %v, driven %v", f.gone, f.driven)
	}
	stored, err := f.service.Run(background, as("acme"), started.Run.ID)
	if f.must(err); stored.Status != countersign.RunWaitingApproval {
		t.Errorf("it is stored as %s", stored.Status)
	}
	again, err := f.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, "key")
	if f.must(err); !again.Replayed || again.Run.ID != started.Run.ID || again.Run.Status != countersign.RunWaitingApproval || len(f.gone) != 1 {
		t.Errorf("the same start again: %+v, went on %v", again.Run, f.gone)
	}
	f.wantSettled()
}

// TestAStartWhoseFirstTurnFailsIsMadeAlone: the error is the run's, and the engine meets it.
func TestAStartWhoseFirstTurnFailsIsMadeAlone(t *testing.T) {
	for name, shared := range map[string]bool{"alone": false, "shared": true} {
		t.Run(name, func(t *testing.T) {
			f := beginning(t)
			p := f.plan()
			if f.fails = errors.New("odd"); shared {
				f.service = f.begin(struct{ store.Store }{f.store})
			}
			started, err := f.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, "key")
			f.must(err)
			if !slices.Equal(f.driven, []string{started.Run.ID}) || len(f.gone) != 0 || len(f.begun) == 0 {
				t.Errorf("begun %v, driven %v, went on %v", f.begun, f.driven, f.gone)
			}
			stored, err := f.service.Run(background, as("acme"), started.Run.ID)
			if f.must(err); stored.Status != countersign.RunReady {
				t.Errorf("it is stored as %s", stored.Status)
			}
			all, err := f.service.Runs(background, as("acme"), control.List{Limit: 10}, control.RunFilter{})
			if f.must(err); all.Total != 1 {
				t.Errorf("%d runs", all.Total)
			}
		})
	}
}

// TestAnEngineThatStopsBeginsNoRun, and is given it all the same.
func TestAnEngineThatStopsBeginsNoRun(t *testing.T) {
	f := beginning(t)
	p := f.plan()
	f.stops = true
	started, err := f.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, "key")
	if f.must(err); !slices.Equal(f.driven, []string{started.Run.ID}) || len(f.gone) != 0 {
		t.Errorf("driven %v, went on %v", f.driven, f.gone)
	}
}

// unheard is a store whose commits nobody hears of.
type unheard struct{ store.Store }

func (u unheard) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := u.Store.Update(ctx, fn); err != nil {
		return err
	}
	return store.ErrInDoubt
}

// TestAStartOfWhichNobodyKnowsIsDropped, and so is one that is refused: neither goes on.
func TestAStartOfWhichNobodyKnowsIsDropped(t *testing.T) {
	f := beginning(t)
	p := f.plan()
	f.service = f.begin(unheard{f.store})
	if _, err := f.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, "key"); err == nil {
		t.Error("it was answered for")
	}
	if len(f.begun) == 0 || len(f.gone) != 0 || len(f.driven) != 0 {
		t.Errorf("begun %v, went on %v, driven %v", f.begun, f.gone, f.driven)
	}
	f.wantSettled()
}
