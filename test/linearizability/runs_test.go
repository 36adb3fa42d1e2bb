package linearizability

import "github.com/countersign/countersign"

// start starts a LIVE run of one step under a fresh key.
func (f *fixture) start(capability string) (countersign.Run, error) {
	out, err := f.control.StartRun(background(), ann, countersign.RunStart{PlanID: f.plans[capability]}, newID("key"))
	return out.Run, err
}

// sent starts a run and waits until its call is in flight.
func (f *fixture) sent(capability string) (countersign.Run, error) {
	r, err := f.start(capability)
	if err == nil {
		err = f.receiver.await(call(&r), 1)
	}
	return r, err
}

// uncertain makes a run with an uncertain side effect.
func (f *fixture) uncertain() (countersign.Run, error) {
	r, err := f.sent(pay)
	if err != nil {
		return r, err
	}
	f.receiver.release(call(&r), 1, lost())
	return f.await(r.ID, func(r *countersign.Run) bool { return is(r, countersign.RunRecoveryRequired) })
}

// undecided makes a run that waits for its approval.
func (f *fixture) undecided(capability string) (countersign.Run, error) {
	r, err := f.start(capability)
	if err != nil {
		return r, err
	}
	return f.await(r.ID, func(r *countersign.Run) bool { return r.ApprovalID != "" })
}

// call is the idempotency key of a run's first step.
func call(r *countersign.Run) string { return r.Steps[0].IdempotencyKey }
