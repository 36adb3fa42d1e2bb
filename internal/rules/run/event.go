package run

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// Event is something that happened to a run.
type Event interface{ isEvent() }

// The events.
type (
	// Resumed means that an engine executes the run from here.
	Resumed struct{}
	// Returned means that the call of this step and attempt ended. RecordOnly: record
	// the outcome only, don't start the next step; Resumed starts it. Evidence: another process
	// has taken the run over, so that the outcome decides nothing.
	Returned struct {
		Step       int
		Attempt    int
		Outcome    request.Outcome
		RecordOnly bool
		Evidence   bool
	}
	// Decided means that the approval in Env was decided.
	Decided struct {
		Decision countersign.ApprovalStatus
		Reason   string
		By       string
		// Suggested are inputs that would be approved instead, nil for none.
		Suggested map[string]countersign.Value
		// Judged: whether they fit was judged before, and Unfit is why they don't, nil if they do.
		Judged bool
		Unfit  error
		// Assertion is a checked one of a passkey, nil for none.
		Assertion *countersign.Assertion
	}
	// Expired means that the approval in Env reached its expiresAt.
	Expired struct{}
	// SlotGranted means that a run that waited for a slot has one.
	SlotGranted struct{}
	// CancelAsked means that somebody asked to cancel the run.
	CancelAsked struct {
		Reason string
		By     string
	}
	// Reconciled means that a person reported the outcome of the uncertain step.
	Reconciled struct {
		countersign.Reconcile
		By string
	}
	// Probing means that a reviewer probes the uncertain step: the probe is let out once this is
	// committed, and Apply gives it its number.
	Probing struct {
		Step   int
		Probe  countersign.ProbeRecord
		Digest string // of its request
	}
	// Probed means that the call of this probe ended. It left, so what came of it is kept
	// whatever became of the run meanwhile.
	Probed struct {
		Step  int
		Probe countersign.ProbeRecord
	}
	// Restarted means that nobody drives the run: its process is gone, with its calls. If
	// Untended, it is alive but has lost track of the run. If Adopted, another process takes
	// the run over, and the one that sent may live: a lease ends the right to send, and no call.
	Restarted struct{ Untended, Adopted bool }
	// SetAside means that the run's turns failed again and again, because of the run and not of
	// the store. It judges nothing, so that it can't fail as they did.
	SetAside struct{}
)

func (SetAside) isEvent()    {}
func (Probing) isEvent()     {}
func (Resumed) isEvent()     {}
func (Returned) isEvent()    {}
func (Decided) isEvent()     {}
func (Expired) isEvent()     {}
func (SlotGranted) isEvent() {}
func (CancelAsked) isEvent() {}
func (Reconciled) isEvent()  {}
func (Probed) isEvent()      {}
func (Restarted) isEvent()   {}

// Apply returns the run after the event. An event that the run's status does not allow
// is a state_conflict and changes nothing. An event that comes too late to matter (an
// answer to a run that has ended, a second Resumed) changes nothing and is no error. One
// that comes to a step which costs too much to be judged here is *UnjudgedError, and changes
// nothing either.
func Apply(env Env, r *countersign.Run, e Event) (Result, error) {
	t := begin(env, r)
	var err error
	switch e := e.(type) {
	case Resumed:
		t.resumed()
	case Returned:
		t.returned(e)
	case Decided:
		err = t.decided(e)
	case Expired:
		t.expired()
	case SlotGranted:
		t.slotGranted()
	case CancelAsked:
		err = t.cancelAsked(e)
	case Reconciled:
		err = t.reconciled(e)
	case Probing:
		err = t.probing(e)
	case Probed:
		t.probed(e)
	case Asking:
		err = t.asking(e)
	case Asked:
		t.asked(e)
	case Settling:
		err = t.settling(e)
	case Looking:
		err = t.looking(e)
	case Looked:
		t.lookedAt(e)
	case SetAside:
		t.setAside()
	case Restarted:
		t.restarted(e)
	default:
		err = fmt.Errorf("run: unknown event %T", e)
	}
	if err == nil && t.unjudged != nil {
		err = t.unjudged
	}
	if err != nil {
		return Result{Run: r}, err
	}
	return t.end(), nil
}

// WaitsForSlot reports a run that continues by itself as soon as a slot is free and no
// stop stands: it was approved or reconciled, or a stop held it.
func WaitsForSlot(r *countersign.Run) bool {
	return r.WaitingFor != nil && (r.WaitingFor.Kind == countersign.WaitSlot || r.WaitingFor.Kind == countersign.WaitStop)
}

// HoldsSlot reports a run that an engine executes. One that a stop holds is READY or
// RUNNING too, and holds no slot.
func HoldsSlot(r *countersign.Run) bool { return r.Status.IsActive() && !WaitsForSlot(r) }

// AsWaited is what a run waits for while a stop stands, or doesn't: a queued run waits
// for its end first, whenever it was queued.
func AsWaited(f *countersign.WaitingFor, stopped bool) *countersign.WaitingFor {
	if f == nil || stopped && f.Kind != countersign.WaitSlot || !stopped && f.Kind != countersign.WaitStop {
		return f
	}
	out := *f
	out.Kind, out.Role, out.Operation = countersign.WaitSlot, "", ""
	if stopped {
		out.Kind, out.Role, out.Operation = countersign.WaitStop, string(countersign.RoleAdmin), "POST /go"
	}
	return &out
}

func (t *transition) conflict(what string) error {
	return countersign.Errorf(countersign.CodeStateConflict, "run %s is %s; %s", t.run.ID, t.run.Status, what)
}
