package desk

import (
	"cmp"
	"context"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Onward is where a form of the desk leads once it was accepted: to the next one that still waits,
// which says what became of this one. A form that isn't of the desk leads elsewhere.
func Onward(v *web.Request, kind, id, elsewhere string) string {
	if !v.R.PostForm.Has("desk") {
		return elsewhere
	}
	q := queryOf(v).with("after", "")
	q.Set("last", kind+"/"+id)
	return nextOf(v, q)
}

// nextOf is the first of those that come after that still waits, else the list.
func nextOf(v *web.Request, q query) string {
	after := v.R.PostForm["next"]
	for _, one := range after[:min(len(after), nextOnes)] {
		kind, id, _ := strings.Cut(one, "/")
		if places[kind] != "" && countersign.ValidID(id) && waits(v, kind, id) {
			return q.page(kind, id)
		}
	}
	return q.at("/desk")
}

// waits reports what the visitor may still decide.
func waits(v *web.Request, kind, id string) bool {
	ctx := v.R.Context()
	switch kind {
	case Approval:
		return v.Control.MayDecide(ctx, v.Actor, id) == nil
	case Recovery:
		return v.Control.MayReconcile(ctx, v.Actor, id) == nil && uncertain(ctx, v, id)
	}
	c, err := v.Control.Change(ctx, v.Actor, id)
	return err == nil && c.Status == countersign.ChangeProposed && c.ProposedBy != v.Actor.ID
}

func uncertain(ctx context.Context, v *web.Request, id string) bool {
	r, err := v.Control.Run(ctx, v.Actor, id)
	return err == nil && r.Status == countersign.RunRecoveryRequired && r.WaitingFor != nil && r.WaitingFor.Kind == countersign.WaitReconcile
}

// Last says what became of what was decided before.
type Last struct {
	Of    string // "kind/id"
	Run   string // whose changes alter it
	Said  string // who decided what
	Title string
	Href  string
	State text.State
	More  string // such as how long the answer took
	Wrong bool   // it stays in sight until it is read
}

// lastOf is nil where there is nothing to say.
func lastOf(v *web.Request, of string) *Last {
	kind, id, _ := strings.Cut(of, "/")
	if !countersign.ValidID(id) {
		return nil
	}
	switch kind {
	case Approval:
		return lastApproval(v, id)
	case Recovery:
		return lastRecovery(v, id)
	case Change:
		return lastChange(v, id)
	}
	return nil
}

func lastApproval(v *web.Request, id string) *Last {
	a, err := v.Control.ApprovalAlone(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil
	}
	l := &Last{Of: Approval + "/" + id, Run: a.RunID, Title: cmp.Or(a.Title, a.Capability), Href: web.Prefix + "/runs/" + a.RunID, State: text.ApprovalState(a)}
	switch by := byWhom(v, a.DecidedBy, a.DecidedByName); {
	case a.Status == countersign.ApprovalRejected:
		l.Said = "Rejected by " + by
		if a.SuggestedInput != nil {
			l.Said = "Rejected with a correction by " + by
		}
	case a.Status == countersign.ApprovalPending:
		l.Said, l.State.Word = "Approved by you", "waits for more approvals"
	default:
		l.Said = "Approved by " + by
		l.follow(v, a.StepID)
	}
	return l
}

func byWhom(v *web.Request, by, name string) string {
	if by == v.Actor.ID {
		return "you"
	}
	return Name(by, name)
}

// follow adds what the run says of a step.
func (l *Last) follow(v *web.Request, stepID string) {
	r, err := v.Control.Run(v.R.Context(), v.Actor, l.Run)
	if err != nil {
		return
	}
	i := text.StepIndex(&r, stepID)
	if i < 0 {
		return
	}
	s := &r.Steps[i]
	l.State = text.StepState(*s)
	l.State.Word = strings.ToLower(l.State.Word)
	if s.Response != nil && s.Response.DurationMs > 0 {
		l.More = "after " + text.Took(s.Response.DurationMs)
	}
	switch s.Status {
	case countersign.StepCompleted:
		l.State.Word = "answered, nothing to verify"
		if s.Verification != nil && s.Verification.Status == countersign.VerificationPassed {
			l.State.Word = "verified"
		}
	case countersign.StepFailed, countersign.StepRecoveryRequired:
		l.Wrong = true
		if s.Status == countersign.StepRecoveryRequired {
			l.State.Word, l.Href = "nobody knows whether it was done", web.Prefix+"/recovery/"+r.ID
		}
	case countersign.StepWaitingApproval, countersign.StepPending:
		l.State.Word = "waits to be sent"
	}
}

func lastRecovery(v *web.Request, id string) *Last {
	r, err := v.Control.Run(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil
	}
	l := &Last{Of: Recovery + "/" + id, Run: id, Said: "Recorded", Href: web.Prefix + "/runs/" + id, State: text.RunState(r)}
	l.State.Word = strings.ToLower(l.State.Word)
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Reconciliation != nil || s.SettledBy != nil {
			l.Title = text.NameOf(s)
		}
	}
	return l
}

func lastChange(v *web.Request, id string) *Last {
	c, err := v.Control.Change(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil
	}
	c = control.Named(v.R.Context(), v.Control, v.Actor, c)
	return &Last{Of: Change + "/" + id, Said: "Decided", Title: c.Title, Href: web.Prefix + "/changes/" + id, State: text.State{Class: "is-idle", Icon: "s-completed", Word: c.Status.Words()}}
}
