package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// TestManyStartsWithOneKeyMakeOneRun: 64 concurrent starts, of a plan or of an agent. All get the same run, one of them as
// its creator, and it is sent once.
func TestManyStartsWithOneKeyMakeOneRun(t *testing.T) {
	race(t, narrow, 1, func(h *fixture, n int) {
		key := newID("key")
		answers := make([]control.Started, 64)
		errs := all(len(answers), func(i int) (err error) {
			if n%2 == 0 {
				answers[i], err = h.control.StartRun(background(), ann, countersign.RunStart{PlanID: h.plans[note]}, key)
			} else {
				answers[i], err = h.control.StartAgentRun(background(), ann, agentID("payer"), agentStart(1, note), key)
			}
			return err
		})
		if count(errs, "") != len(errs) {
			h.t.Fatalf("the answers are %v", errs)
		}
		h.wantOneMaker(answers)
		h.wantSentOnce(h.mustReach(answers[0].Run.ID, countersign.RunCompleted))
	})
}

// TestOneKeyIsForOneContent: of two concurrent starts with different contents under one key, one gets a run and the other a
// conflict.
func TestOneKeyIsForOneContent(t *testing.T) {
	race(t, narrow, 1, func(h *fixture, _ int) {
		key := newID("key")
		answers := make([]control.Started, 16)
		errs := all(len(answers), func(i int) (err error) {
			answers[i], err = h.control.StartRun(background(), ann, countersign.RunStart{PlanID: h.plans[[]string{note, pay}[i%2]]}, key)
			return err
		})
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		if count(every(errs, winner), "") != 8 || count(every(errs, 1-winner), countersign.CodeIdempotencyConflict) != 8 {
			h.t.Fatalf("the answers are %v", errs)
		}
		h.wantOneMaker(every(answers, winner))
		h.finish(answers[winner].Run.ID)
	})
}

// every returns every second element of a list, from an offset.
func every[T any](all []T, offset int) (list []T) {
	for i := offset; i < len(all); i += 2 {
		list = append(list, all[i])
	}
	return list
}

// runsOf are the runs of a key.
func (f *fixture) runsOf(key string) (list []countersign.Run) {
	f.t.Helper()
	for _, r := range f.allRuns() {
		if r.IdempotencyKey == key {
			list = append(list, r)
		}
	}
	return list
}

// finish answers the call of a run, and waits for its end.
func (f *fixture) finish(runID string) countersign.Run {
	f.t.Helper()
	r, err := f.await(runID, func(r *countersign.Run) bool { return stands(r) || r.Steps[0].Attempt > 0 })
	f.must(err)
	if r.Steps[0].Attempt > 0 {
		f.must(f.receiver.finish(call(&r), r.Steps[0].Attempt))
	}
	r, err = f.await(runID, stands)
	f.must(err)
	return r
}

func agentStart(revision int64, capability string) countersign.AgentRunStart {
	return countersign.AgentRunStart{ExpectedRevision: revision, Mode: countersign.ModeLive, Capability: capability, Expectation: done()}
}

func (f *fixture) wantOneMaker(answers []control.Started) {
	f.t.Helper()
	made := 0
	for _, a := range answers {
		if !a.Replayed {
			made++
		}
		if a.Run.ID != answers[0].Run.ID || a.Run.PlanID != answers[0].Run.PlanID || a.Run.PlanDigest != answers[0].Run.PlanDigest {
			f.t.Errorf("the starts were answered with the runs %s and %s", answers[0].Run.ID, a.Run.ID)
		}
	}
	if list := f.runsOf(answers[0].Run.IdempotencyKey); made != 1 || len(list) != 1 {
		f.t.Errorf("%d starts made the run, and the key has %d", made, len(list))
	}
}

// wantSentOnce: the receiver and the log show one start and one request.
func (f *fixture) wantSentOnce(r countersign.Run) {
	f.t.Helper()
	started, sent := 0, 0
	for _, rec := range f.log("run/" + r.ID) {
		switch rec.Action {
		case "runs.start":
			started++
		case "step.send":
			sent++
		}
	}
	if n := len(f.receiver.deliveries(call(&r))); n != 1 || started != 1 || sent != 1 {
		f.t.Errorf("run %s was started %d times, sent %d times, delivered %d times", r.ID, started, sent, n)
	}
}
