package linearizability

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// TestDecisionHistories: several reviewers decide one approval while its run is canceled and read, and its request is
// answered.
func TestDecisionHistories(t *testing.T) {
	codes := []countersign.Code{countersign.CodeStateConflict, countersign.CodeSelfApproval, countersign.CodeUnavailable}
	checkAll(t, kind{limit: wide, parallel: 12, answers: codes, play: func(h *fixture, seed uint64) (porcupine.Model, *history, error) {
		d, err := newDecisions(h)
		if err != nil {
			return porcupine.Model{}, nil, err
		}
		clients(seed, d.act)
		err = d.settle()
		d.ask(background(), 0, decisionOp{what: "read"})
		d.ask(background(), 0, decisionOp{what: "read run"})
		return decisionSpec.model(), &d.history, err
	}})
}

// decisions is one history of one approval.
type decisions struct {
	history
	h     *fixture
	run   countersign.Run
	begun int64
}

func newDecisions(h *fixture) (*decisions, error) {
	r, err := h.undecided(transfer)
	return &decisions{h: h, run: r, begun: tick()}, err
}

func (d *decisions) act(client int, rng *rand.Rand) {
	ctx, end := hurried(rng)
	defer end()
	in := decisionOp{what: pick(rng, "approve", "approve", "reject", "cancel", "read", "read", "read run", "read run", "answer")}
	in.by = reviewer(client).ID
	switch {
	case in.what == "answer":
		d.h.receiver.release(call(&d.run), 1, good())
		return
	case rng.IntN(12) == 0:
		in.by = ann.ID
	}
	d.ask(ctx, client, in)
}

func (d *decisions) ask(ctx context.Context, client int, in decisionOp) {
	if in.what == "cancel" {
		d.cancel(ctx, client, in)
		return
	}
	do(&d.history, client, in, func() decisionAnswer {
		switch in.what {
		case "approve":
			return ofApproval(d.decide(ctx, client, in, countersign.ApprovalApproved))
		case "reject":
			return ofApproval(d.decide(ctx, client, in, countersign.ApprovalRejected))
		case "read":
			return ofApproval(d.h.any().Approval(ctx, ann, d.run.ApprovalID))
		default:
			return ofDecided(d.h.any().Run(ctx, ann, d.run.ID))
		}
	})
}

// cancel cancels the run. Its answer has the run as read after the cancel, so it is recorded as a cancel and a read.
func (d *decisions) cancel(ctx context.Context, client int, in decisionOp) {
	call := tick()
	r, err := d.h.any().CancelRun(ctx, ann, d.run.ID, "not wanted")
	ret := tick()
	d.record(client, in, decisionAnswer{answer: answerOf(err)}, call, ret)
	if err == nil {
		d.record(client, decisionOp{what: "read run"}, ofDecided(r, nil), call, ret)
	}
}

func (d *decisions) decide(ctx context.Context, client int, in decisionOp, is countersign.ApprovalStatus) (countersign.Approval, error) {
	who := reviewer(client)
	if in.by == ann.ID {
		who = ann
	}
	return d.h.any().Decide(ctx, who, d.run.ApprovalID, countersign.Decision{Decision: is, Reason: "so decided"})
}

func ofApproval(a countersign.Approval, err error) decisionAnswer {
	if err != nil {
		return decisionAnswer{answer: answerOf(err)}
	}
	return decisionAnswer{is: decisionState{decision: a.Status, by: a.DecidedBy}}
}

func ofDecided(r countersign.Run, err error) decisionAnswer {
	if err != nil {
		return decisionAnswer{answer: answerOf(err)}
	}
	return decisionAnswer{is: decisionState{run: r.Status, sent: r.Steps[0].Attempt > 0}}
}

// settle waits until the run changes no more by itself, and records what the service did: it sent the request before the
// request arrived, and stored the answer before now.
func (d *decisions) settle() error {
	r, err := d.h.await(d.run.ID, func(r *countersign.Run) bool { return stands(r) || r.Steps[0].Attempt > 0 })
	if err != nil {
		return err
	}
	if r.Steps[0].Attempt == 0 {
		return nil
	}
	if err := d.h.receiver.finish(call(&d.run), 1); err != nil {
		return err
	}
	if _, err := d.h.await(d.run.ID, stands); err != nil {
		return err
	}
	list := d.h.receiver.deliveries(call(&d.run))
	if len(list) != 1 {
		return fmt.Errorf("the request was delivered %d times", len(list))
	}
	d.record(theService, decisionOp{what: "sent"}, decisionAnswer{}, d.begun, list[0].at)
	d.record(theService, decisionOp{what: "answered"}, decisionAnswer{}, list[0].answered, tick())
	return nil
}

// stands reports whether only a person's action can change the run, which also waits for no answer of a receiver.
func stands(r *countersign.Run) bool {
	switch {
	case ended(r):
		return true
	case r.WaitingFor == nil || r.WaitingFor.Kind == countersign.WaitSlot:
		return false
	case r.Status == countersign.RunRecoveryRequired && r.CancelRequested:
		return lateAnswer(r)
	default:
		return true
	}
}

// lateAnswer reports whether an answer came after the run had stopped.
func lateAnswer(r *countersign.Run) bool {
	for i := range r.Steps {
		if r.Steps[i].Late != nil {
			return true
		}
	}
	return false
}
