package linearizability

import "github.com/countersign/countersign"

// start starts a LIVE run of one step under a fresh key.
func (h *fixture) start(capability string) (countersign.Run, error) {
	out, err := h.control.StartRun(background(), ann, h.plans[capability], newID("key"))
	return out.Run, err
}

// sent is a run whose call is on its way.
func (h *fixture) sent(capability string) (countersign.Run, error) {
	r, err := h.start(capability)
	if err == nil {
		err = h.receiver.await(call(&r), 1)
	}
	return r, err
}

// uncertain is a run whose side effect nobody knows the outcome of.
func (h *fixture) uncertain() (countersign.Run, error) {
	r, err := h.sent(pay)
	if err != nil {
		return r, err
	}
	h.receiver.release(call(&r), 1, lost())
	return h.await(r.ID, func(r *countersign.Run) bool { return is(r, countersign.RunRecoveryRequired) })
}

// undecided is a run that waits for its approval.
func (h *fixture) undecided(capability string) (countersign.Run, error) {
	r, err := h.start(capability)
	if err != nil {
		return r, err
	}
	return h.await(r.ID, func(r *countersign.Run) bool { return r.ApprovalID != "" })
}

// call is the key that the first step of a run is sent with.
func call(r *countersign.Run) string { return r.Steps[0].IdempotencyKey }
