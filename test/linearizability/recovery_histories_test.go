package linearizability

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// TestRecoveryHistories: several people reconcile and cancel a run with an uncertain side effect, while repeated requests are
// answered or lost.
func TestRecoveryHistories(t *testing.T) {
	codes := []countersign.Code{countersign.CodeStateConflict, countersign.CodeExpectationNotMet, countersign.CodeSelfApproval, countersign.CodeUnavailable}
	checkAll(t, kind{limit: wide, parallel: 12, answers: codes, play: func(h *fixture, seed uint64) (porcupine.Model, *history, error) {
		r, err := newRecovery(h)
		if err != nil {
			return porcupine.Model{}, nil, err
		}
		clients(seed, r.act)
		err = r.settle()
		r.ask(background(), 0, recoveryOp{what: "read"})
		return recoverySpec.model(), &r.history, err
	}})
}

// recovery is one history of one uncertain run.
type recovery struct {
	history
	h     *fixture
	run   countersign.Run
	begun int64
}

func newRecovery(h *fixture) (*recovery, error) {
	r, err := h.uncertain()
	return &recovery{h: h, run: r, begun: tick()}, err
}

func (r *recovery) act(client int, rng *rand.Rand) {
	ctx, end := hurried(rng)
	defer end()
	const again = countersign.ConfirmedNotExecuted
	in := recoveryOp{what: pick(rng, countersign.ConfirmedCompleted, wrongOutput, again, again, again, countersign.Abandon, "cancel", "cancel", "read", "read", "read", "answer", "answer")}
	in.by = reviewer(client).ID
	switch {
	case in.what == "answer":
		sent := len(r.h.receiver.deliveries(call(&r.run)))
		r.h.receiver.release(call(&r.run), sent, pick(rng, good(), lost()))
		return
	case rng.IntN(12) == 0:
		in.by = ann.ID
	}
	r.ask(ctx, client, in)
}

// ask makes a request. The answer to a change has the run as read after the change, so it is also recorded as a read.
func (r *recovery) ask(ctx context.Context, client int, in recoveryOp) {
	call := tick()
	is, err := r.request(ctx, client, in)
	ret := tick()
	if in.what != "read" {
		r.record(client, in, recoveryAnswer{answer: answerOf(err)}, call, ret)
	}
	if in.what == "read" || err == nil {
		r.record(client, recoveryOp{what: "read"}, ofRecovery(is, err), call, ret)
	}
}

func (r *recovery) request(ctx context.Context, client int, in recoveryOp) (countersign.Run, error) {
	who := reviewer(client)
	if in.by == ann.ID {
		who = ann
	}
	switch in.what {
	case "read":
		return r.h.any().Run(ctx, ann, r.run.ID)
	case "cancel":
		return r.h.any().CancelRun(ctx, ann, r.run.ID, "not wanted")
	case wrongOutput:
		return r.h.any().ReconcileRun(ctx, who, r.run.ID, resolution(countersign.ConfirmedCompleted, "pending"))
	default:
		return r.h.any().ReconcileRun(ctx, who, r.run.ID, resolution(in.what, "done"))
	}
}

func resolution(is, state string) countersign.Reconcile {
	out := countersign.Reconcile{Resolution: is, Evidence: "ticket 7"}
	if is == countersign.ConfirmedCompleted {
		out.Output = map[string]countersign.Value{"state": countersign.String(state)}
	}
	return out
}

func ofRecovery(r countersign.Run, err error) recoveryAnswer {
	if err != nil {
		return recoveryAnswer{answer: answerOf(err)}
	}
	s := &r.Steps[0]
	return recoveryAnswer{is: recoveryState{r.Status, s.Status == countersign.StepRunning, s.Attempt, r.CancelRequested, s.Late != nil}}
}

// settle waits until the run changes no more by itself, and records what the service did: it sent each request before the
// request arrived, and stored its answer before now.
func (r *recovery) settle() error {
	is, err := r.h.await(r.run.ID, func(is *countersign.Run) bool { return stands(is) || inFlight(is) })
	if err != nil {
		return err
	}
	if !stands(&is) {
		if err := r.h.receiver.finish(call(&r.run), is.Steps[0].Attempt); err != nil {
			return err
		}
		if _, err := r.h.await(r.run.ID, stands); err != nil {
			return err
		}
	}
	now := tick()
	for i, d := range r.h.receiver.deliveries(call(&r.run)) {
		r.recordDelivery(i+1, d, now)
	}
	return nil
}

func (r *recovery) recordDelivery(attempt int, d delivery, now int64) {
	if attempt > 1 {
		r.record(theService, recoveryOp{what: "sent", attempt: attempt}, recoveryAnswer{}, r.begun, d.at)
	}
	if attempt == 1 || d.answered == 0 {
		return // before the history, or after it
	}
	what := "answered"
	if d.told.Certainty == request.Unknown {
		what = "lost"
	}
	r.record(theService, recoveryOp{what: what, attempt: attempt}, recoveryAnswer{}, d.answered, now)
}

// inFlight reports whether a request of the run was sent and has no answer.
func inFlight(r *countersign.Run) bool {
	waits := r.Status == countersign.RunRecoveryRequired && r.CancelRequested && !lateAnswer(r)
	return waits || r.Steps[0].Status == countersign.StepRunning
}
