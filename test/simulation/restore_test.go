package simulation

import (
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/test/campaign"
)

// A backup is taken amid a seed, the seed is played to its end, and then the backup is restored: of what was sent since, the store knows
// nothing. The receiver does.

var restored = campaign.SizeFlag("restored", 20, 300, "how many seeds to play whose store is restored from a backup")

// TestSimulationOfRestores plays seeds whose store is restored at their end.
func TestSimulationOfRestores(t *testing.T) {
	first, unfinished := from.First(t), 0
	for i := range restored.N() {
		synctest.Test(t, func(t *testing.T) {
			s := newSim(t, first+uint64(i))
			var backup *memory.Store
			s.afterRound = func(n int) {
				if n == 0 {
					s.found()
				}
				if n == *steps/2 {
					backup = s.copy()
				}
			}
			s.run(*steps)
			if backup != nil && !s.failed {
				unfinished += s.restore(backup)
			}
		})
	}
	t.Logf("%d runs were unfinished when their store was restored", unfinished)
	if unfinished == 0 && restored.N() >= 20 {
		t.Error("no run was unfinished when its store was restored")
	}
}

// found makes the tenants known to the store, of which a restore goes over each.
func (s *sim) found() {
	err := s.disk.rows.Update(background(), func(tx store.Tx) error {
		for _, tenant := range tenants {
			if _, err := records.Tenants.Put(tx, store.Realm, tenant, &countersign.Tenant{ID: tenant, Name: tenant, Revision: 1}, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.fail("the tenants can't be stored: %v", err)
	}
}

func (s *sim) copy() *memory.Store {
	to := memory.New()
	err := s.disk.rows.View(background(), func(from store.Tx) error {
		return to.Update(background(), func(tx store.Tx) error { return copyRows(from, tx) })
	})
	if err != nil {
		s.fail("the store can't be copied: %v", err)
	}
	return to
}

// restore puts the backup in the place of the store, ends what it left unfinished, and checks what that says. It gives how many those were.
func (s *sim) restore(backup *memory.Store) (n int) {
	s.say("the store is restored from a backup")
	s.disk = &disk{rows: backup, poison: poison{of: map[string]venom{}}}
	s.seen, s.known, s.looks = newSeen(), newKnown(), map[string]lastLook{}
	clear(s.rows) // versions count anew
	tool := control.New(control.Config{NewID: s.newID, NewSecret: func() [32]byte { return [32]byte{} }, Now: s.now}, backup, nil, nil, nil, nil, quietly)
	if _, err := tool.AfterRestore(background(), "the disk broke", false); err != nil {
		s.fail("the store can't be made safe to start: %v", err)
	}
	open := map[string]bool{}
	for _, tenant := range tenants {
		for _, r := range s.look(tenant).runs {
			if !r.Status.IsTerminal() && r.Mode == countersign.ModeLive {
				open[tenant+"/"+r.ID] = true
			}
			if !r.Status.IsTerminal() && r.RestoredAt.IsZero() {
				s.fail("S2: run %s was unfinished when its store was restored, and doesn't say so", r.ID)
			}
		}
	}
	sent := s.receiver.arrivals
	s.boot()
	defer func() { s.process.end(0) }()
	for _, tenant := range tenants {
		s.hire(tenant)
	}
	for range 60 {
		if s.failed || !s.helpAlong() {
			break
		}
		s.pass()
	}
	for _, tenant := range tenants {
		p := s.look(tenant)
		for i := range p.runs {
			if r := &p.runs[i]; open[tenant+"/"+r.ID] {
				s.checkRestored(r)
			}
		}
		s.checkLost(&p)
	}
	for _, d := range s.receiver.deliveries()[sent:] {
		if !d.probe {
			s.fail("D3: %s was sent after the restore, before anybody enabled a project", d.call.IdempotencyKey)
		}
	}
	return len(open)
}

// checkRestored: what ended without sending may have been sent by the store that was lost.
func (s *sim) checkRestored(r *records.Run) {
	side := false
	for i := range r.Steps {
		st := &r.Steps[i]
		unsent := st.SideEffect && st.Status != countersign.StepCompleted
		side = side || unsent
		if r.Status.IsTerminal() && unsent && !st.MayHaveHappened {
			s.fail("S2: restored run %s is %s, and its step %s says %s and that it didn't happen", r.ID, r.Status, st.ID, st.Status)
		}
	}
	if !r.Status.IsTerminal() || side && !r.MayHaveHappened || side && !r.HadEffect() {
		s.fail("S2: restored run %s is %s (%s): mayHaveHappened %v", r.ID, r.Status, r.Error, r.MayHaveHappened)
	}
}

// checkLost: no run of the backup denies what the receiver did for it, before or after.
func (s *sim) checkLost(p *picture) {
	for _, d := range s.receiver.deliveries() {
		if r := p.run(d.call.RunID); r != nil && !d.probe {
			s.checkNotDenied(r, []*delivery{d})
		}
	}
}
