package linearizability

import "github.com/countersign/countersign"

// start starts a LIVE run of one step under a fresh key.
func (h *fixture) start(capability string) (countersign.Run, error) {
	out, err := h.control.StartRun(background(), ann, countersign.RunStart{PlanID: h.plans[capability]}, newID("key"))
	return out.Run, err
}

// sent starts a run and waits until its call is in flight.
func (h *fixture) sent(capability string) (countersign.Run, error) {
	r, err := h.start(capability)
	if err == nil {
		err = h.receiver.await(call(&r), 1)
	}
	return r, err
}

// uncertain makes a run with an uncertain side effect.
func (h *fixture) uncertain() (countersign.Run, error) {
	r, err := h.sent(pay)
	if err != nil {
		return r, err
	}
	h.receiver.release(call(&r), 1, lost())
	return h.await(r.ID, func(r *countersign.Run) bool { return is(r, countersign.RunRecoveryRequired) })
}

// undecided makes a run that waits for its approval.
func (h *fixture) undecided(capability string) (countersign.Run, error) {
	r, err := h.start(capability)
	if err != nil {
		return r, err
	}
	return h.await(r.ID, func(r *countersign.Run) bool { return r.ApprovalID != "" })
}

// call is the idempotency key of a run's first step.
func call(r *countersign.Run) string { return r.Steps[0].IdempotencyKey }
