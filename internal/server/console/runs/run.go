package runs

import (
	"cmp"
	"html/template"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// runData is the page of a run. The parts that live updates replace have templates of
// their own (runlive.go).
type runData struct {
	Run    *countersign.Run
	Plan   *countersign.Plan
	Title  string
	Call   callout
	Graph  template.HTML
	Steps  []stepLine
	Counts string // of the steps, by status
	Time   string // that the bars beside the steps are drawn along, "" for a rehearsal
	Chosen chosenStep
	Cancel bool // the visitor may cancel the run
	Again  bool // the visitor may start such a run, and this one has ended
	Keep   bool // the visitor may hold the run, or redact it
	Live   string
	Trail  *trail
	Pinned string // the step in the address, "" for the current one
	Self   string // the page's address

	Rehearsed *Comparison // nil for a rehearsal
}

func runPage(v *web.Request) (*web.Page, error) {
	r, err := v.Control.Run(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	b, err := rightsOn(v, &r)
	if err != nil {
		return nil, err
	}
	d := runDataOf(&r, r.PlanSnapshot, b, v.Query("step"), v.Now)
	if err := addApproval(v, &d.Chosen); err != nil {
		return nil, err
	}
	if d.Trail, err = trailOf(v, &r); err != nil {
		return nil, err
	}
	if d.Rehearsed, err = rehearsedRun(v, &r); err != nil {
		return nil, err
	}
	if !r.Status.IsTerminal() {
		d.Live = d.Self + "/live?from=" + strconv.FormatInt(r.Revision, 10)
		if d.Pinned != "" {
			d.Live += "&step=" + d.Pinned
		}
	}
	return &web.Page{
		Name: "run", Title: d.Title, Nav: "runs", Data: d,
		Crumbs: []web.Crumb{{Word: "Runs", Href: "/runs"}, {Word: r.ID, ID: true}},
	}, nil
}

// addApproval adds the selected step's approval.
func addApproval(v *web.Request, c *chosenStep) error {
	if c.Step == nil || c.Step.ApprovalID == "" {
		return nil
	}
	a, err := v.Control.Approval(v.R.Context(), v.Actor, c.Step.ApprovalID)
	c.Approval = &a
	return err
}

// rightsOn is what the visitor may do about a run.
func rightsOn(v *web.Request, r *countersign.Run) (b viewerRights, err error) {
	runID := r.ID
	b.MaxActive = v.Config.MaxActive
	if b.Approve, err = v.Control.Barred(v.R.Context(), v.Actor, access.DecideApproval, runID); err != nil {
		return b, err
	}
	if w := r.WaitingFor; b.Approve == nil && w != nil && w.Kind == countersign.WaitApproval {
		if refused := v.Control.MayDecide(v.R.Context(), v.Actor, w.ApprovalID); web.RefusalOf(refused) != nil {
			b.Approve = refused // such as by who has decided it already
		}
	}
	b.Reconcile, err = v.Control.Barred(v.R.Context(), v.Actor, access.ReconcileRun, runID)
	b.Cancel, b.Audit, b.Again = v.Can(access.CancelRun), v.Can(access.ReadAudit), mayStartAgain(v, r) == nil
	b.Keep = v.Can(access.HoldRun)
	b.Masked = control.Masks(v.Actor)
	return b, err
}

// runDataOf builds the page from the run. pinned is the requested step; an unknown one
// is ignored.
func runDataOf(r *countersign.Run, p *countersign.Plan, b viewerRights, pinned string, now time.Time) *runData {
	if text.StepIndex(r, pinned) < 0 {
		pinned = ""
	}
	d := &runData{Run: r, Plan: p, Title: cmp.Or(p.Name, r.ID), Pinned: pinned, Self: web.Prefix + "/runs/" + r.ID}
	chosen := text.StepIndex(r, pinned)
	if chosen < 0 {
		chosen = presentStep(r)
	}
	d.Call = calloutOf(r, p, b)
	d.Graph = runGraph(r, p, d.Self)
	d.Steps, d.Counts = stepLines(r, chosen, drawn.AxisOf(r, now)), countWords(r)
	d.Chosen = ChosenStepOf(r, p, chosen)
	if r.Mode == countersign.ModeLive {
		a := drawn.AxisOf(r, now)
		d.Time = text.Took(a.To.Sub(a.From).Milliseconds())
	}
	d.Keep = b.Keep
	d.Cancel, d.Again = b.Cancel && cancellable(r), b.Again && r.Status.IsTerminal()
	return d
}

// presentStep is the step that runs, waits or failed; else the first or the last
// completed one.
func presentStep(r *countersign.Run) int {
	last := 0
	for i := range r.Steps {
		switch s := &r.Steps[i]; s.Status {
		case countersign.StepRunning, countersign.StepWaitingApproval, countersign.StepRecoveryRequired, countersign.StepFailed, countersign.StepAbandoned:
			return i
		case countersign.StepCompleted, countersign.StepSimulated:
			if s.CompletedAt.After(r.Steps[last].CompletedAt) || i == len(r.Steps)-1 && r.Status == countersign.RunCompleted {
				last = i
			}
		}
	}
	return last
}

// MakeLive reports a rehearsal of a plan that the visitor may go on with.
func (d *runData) MakeLive() bool {
	r := d.Run
	return d.Again && r.Mode == countersign.ModeDryRun && r.Status == countersign.RunCompleted && r.AgentID == "" && r.TeamID == ""
}

func (d *runData) At() int { return presentStep(d.Run) + 1 }

// cancellable reports whether a cancel would still change the run.
func cancellable(r *countersign.Run) bool {
	reconciling := r.Status == countersign.RunRecoveryRequired && (r.WaitingFor == nil || r.WaitingFor.Kind == countersign.WaitReconcile)
	return !r.Status.IsTerminal() && !reconciling
}
