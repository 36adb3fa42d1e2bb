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
	// Resumed says that an executor has the run in hand and drives it on.
	Resumed struct{}
	// Returned says that the call of this step and attempt ended. Alone keeps the
	// next step from beginning with it: Taken begins that.
	Returned struct {
		Step       int
		Attempt    int
		Outcome    request.Outcome
		RecordOnly bool
	}
	// Decided says that the approval in Env was decided.
	Decided struct {
		Decision countersign.ApprovalStatus
		Reason   string
		By       string
	}
	// Expired says that the approval in Env reached its expiresAt.
	Expired struct{}
	// SlotGranted says that a run that waited for a slot has one.
	SlotGranted struct{}
	// CancelAsked says that somebody wants the run to end.
	CancelAsked struct {
		Reason string
		By     string
	}
	// Reconciled says that a person found out what became of the uncertain step.
	Reconciled struct {
		countersign.Reconcile
		By string
	}
	// Probed says that a reviewer's read was answered.
	Probed struct {
		Step  int
		Probe countersign.ProbeRecord
	}
	// Restarted says that nobody drives the run: its process is gone or, where
	// Untended, lives and has lost track of it.
	Restarted struct{ Untended bool }
)

func (Resumed) isEvent()     {}
func (Returned) isEvent()    {}
func (Decided) isEvent()     {}
func (Expired) isEvent()     {}
func (SlotGranted) isEvent() {}
func (CancelAsked) isEvent() {}
func (Reconciled) isEvent()  {}
func (Probed) isEvent()      {}
func (Restarted) isEvent()   {}

// Apply gives the run after the event. An event that the run's status does not
// allow is a state_conflict, and nothing changes; an event that comes too late
// to matter (an answer to a run that has ended, a second Taken) changes nothing
// without being an error.
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
	case Probed:
		err = t.probed(e)
	case Restarted:
		t.restarted(e)
	default:
		err = fmt.Errorf("run: unknown event %T", e)
	}
	if err != nil {
		return Result{Run: r}, err
	}
	return t.end(), nil
}

// WaitsForSlot reports a run whose approval or reconcile came through and that
// goes on as soon as a slot is free.
func WaitsForSlot(r *countersign.Run) bool {
	return r.WaitingFor != nil && r.WaitingFor.Kind == countersign.WaitSlot
}

func (t *transition) conflict(what string) error {
	return countersign.Errorf(countersign.CodeStateConflict, "run %s is %s; %s", t.run.ID, t.run.Status, what)
}
