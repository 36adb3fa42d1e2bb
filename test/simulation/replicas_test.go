package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/test/campaign"
)

// Several processes use one store here. Some are cut off from it for a while, and not from the receiver: their calls go on, and their
// answers come, while the others adopt what was theirs. Clocks are right: what a sender wrote down is compared with the adopter's.

var replicated = campaign.SizeFlag("replicas", 30, 500, "how many seeds to play on replicas that are cut off from the store")

// TestSimulationOfReplicas plays seeds on three replicas.
func TestSimulationOfReplicas(t *testing.T) {
	total, first := &tally{}, from.First(t)
	if *oneSeed != 0 {
		first = *oneSeed
	}
	for shard := range shards {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			for i := shard; i < replicated.N() && !t.Failed(); i += shards {
				playReplicas(t, first+uint64(i), total)
			}
		})
	}
	t.Cleanup(func() { t.Log(total) })
}

func playReplicas(t *testing.T, seed uint64, total *tally) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, seed)
		s.shared, s.abreast, s.receiver.pace = true, abreast, slow
		s.run(*steps)
		total.add(s)
	})
}

// share makes a process one of several on its store.
func (p *process) share(id string) error {
	keeper, err := lease.Join(background(), p.session, id, "simulated")
	if err == nil {
		p.held = keeper
		p.engine.Share(keeper, lease.Every)
	}
	return err
}

// complete starts replicas until there are all of them, and has one of them serve that reaches the store.
func (s *sim) complete() {
	for len(s.replicas) < s.abreast && !s.failed {
		s.boot()
		s.replicas = append(s.replicas, s.process)
	}
	s.serve()
}

// serve has one of the replicas serve what is asked next, mostly one that reaches the store.
func (s *sim) serve() {
	s.process = s.replicas[s.rng.IntN(len(s.replicas))]
	for _, p := range s.replicas {
		if s.process.session.isCut() && !s.chance(8) {
			s.process = p
		}
	}
}

// perhapsCut sometimes cuts a replica off from the store. One stays that reaches it.
func (s *sim) perhapsCut() {
	if s.abreast == 0 || !s.chance(6) {
		return
	}
	p := s.replicas[s.rng.IntN(len(s.replicas))]
	busy := slices.IndexFunc(s.replicas, func(r *process) bool { return s.calls(r) && !r.session.isCut() })
	if busy >= 0 {
		p = s.replicas[busy]
	}
	reach := 0
	for _, r := range s.replicas {
		if !r.session.isCut() {
			reach++
		}
	}
	if reach < 2 {
		return
	}
	d := pick(s, 3*time.Second, 7*time.Second, 15*time.Second, time.Minute)
	p.session.cutFor(d)
	if s.cuts++; d > lease.Length {
		s.sequel = 8
	}
	s.say("%s is cut off from the store for %s", p.held.ID(), d)
	s.serve()
}

// slow is the pace of receivers whose calls outlast a lease.
func slow(rng *rand.Rand) time.Duration {
	if rng.IntN(3) == 0 {
		return time.Duration(1+rng.IntN(60_000)) * time.Millisecond
	}
	return uneven(rng)
}

// follow draws what comes upon a cut that outlasts a lease: some time, and people who resolve what the adopters find.
func (s *sim) follow(acts []act) []act {
	if s.sequel == 0 {
		return acts
	}
	s.sequel--
	time.Sleep(time.Duration(1+s.rng.IntN(6)) * time.Second)
	synctest.Wait()
	s.replace()
	for _, tenant := range tenants {
		p := s.look(tenant)
		if r, ok := s.unfinished(&p, countersign.RunRecoveryRequired); ok && s.chance(2) {
			return []act{s.reconcile(tenant, r, countersign.ConfirmedNotExecuted)}
		}
		if r, ok := s.unfinished(&p, countersign.RunWaitingApproval); ok && r.Steps[stepAt(&r)].Attempt > 0 {
			return []act{s.approve(tenant, r)}
		}
	}
	return acts
}

// stepAt is the step for which a run waits.
func stepAt(r *records.Run) int {
	return max(0, slices.IndexFunc(r.Steps, func(st countersign.StepRun) bool { return st.Status == countersign.StepWaitingApproval }))
}

// calls reports a call of the process that is under way.
func (s *sim) calls(p *process) bool {
	return slices.ContainsFunc(s.receiver.deliveries(), func(d *delivery) bool { return d.by == p.session && d.done.IsZero() })
}

// replace ends the replicas that died or were taken for dead, and starts others.
func (s *sim) replace() {
	for _, p := range slices.Clone(s.replicas) {
		select {
		case <-p.held.Lost():
			s.say("%s was taken for dead and ends", p.held.ID())
			s.leave(p, 0)
		default:
			if p.session.isDead() {
				s.say("%s is dead", p.held.ID())
				s.disk.mend()
				s.leave(p, 0)
			}
		}
	}
	s.complete()
}

func (s *sim) leave(p *process, grace time.Duration) {
	p.end(grace)
	s.replicas = slices.DeleteFunc(s.replicas, func(r *process) bool { return r == p })
}

// joinAgain lets every replica reach the store.
func (s *sim) joinAgain() {
	for _, p := range s.replicas {
		p.session.cutFor(0)
	}
}

// through is how one process calls the receiver.
type through struct {
	*receiver
	session *session
}

// Call implements engine.Caller and control.Prober.
func (t through) Call(ctx context.Context, c request.Call) request.Outcome {
	return t.call(ctx, c, t.session)
}

// checkKept: an answer that came to a process which reached the store all the time is kept, as the step's or as a late one.
func (s *sim) checkKept(r *records.Run, st *countersign.StepRun, list []*delivery) {
	d := list[len(list)-1]
	whole := d.told.Certainty == request.Returned && d.told.Response != nil && !d.done.IsZero() && len(list) == st.Attempt
	if !whole || d.by == nil || !d.by.reached(d.at) || s.disk.lastFull().After(d.at) || s.poisoned(r.ID) {
		return
	}
	is := func(kept *countersign.Response) bool {
		return kept != nil && kept.StatusCode == d.told.Response.StatusCode && kept.BodySHA256 == d.told.Response.BodySHA256
	}
	if !is(st.Response) && (st.Late == nil || !is(st.Late.Response)) {
		s.fail("D10: the answer %d to %s came at %s and is kept nowhere: %s", d.told.Response.StatusCode, d.call.IdempotencyKey, d.done, encode(st))
	}
}

var _ store.Store = (*session)(nil)
