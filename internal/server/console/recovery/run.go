package recovery

import (
	"cmp"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/server/console/approvals"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

func inputNames(m map[string]countersign.Value) []string { return slices.Sorted(maps.Keys(m)) }

// Data is the page of one uncertain step: the evidence and the form that
// resolves it.
type Data struct {
	Run      countersign.Run
	Step     *countersign.StepRun
	At       int
	Open     bool // the outcome is unknown and must be resolved
	Early    bool // a response may still arrive, so it can't be resolved yet
	Host     string
	Plan     string
	Known    []knownFact
	Found    foundTable
	Request  *drawn.Sent
	Around   []approvals.StepSummary
	Probe    bool         // the capability has a probe
	Refused  *web.Problem // why the visitor may not resolve it
	Resolve  resolution
	Alike    []string // pending approvals with the same capability and title
	Problem  *web.Problem
	Expected []countersign.Expectation
	Others   []drawn.ShownMember // what the page has no place for

	Desk    *desk.Rail // what else waits
	Later   bool       // the visitor has put it off
	Title   string     // the capability's, filled from what was sent
	Project string

	Statements []statement // what the API said of the step's key
	Settles    bool        // the project has a settlement: nothing is sent a second time
}

func recoveryRunPage(v *web.Request) (*web.Page, error) {
	d, err := recoveryOf(v, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d.prefill(cmp.Or(v.Query("output"), d.asExpected()))
	return d.Page(), nil
}

// Page is the page.
func (d *Data) Page() *web.Page {
	return &web.Page{Name: "recovery-run", Title: d.Step.Name, Nav: "desk", Desk: true, Data: d, Crumbs: desk.Crumbs(desk.Recovery, web.Crumb{Word: d.Run.ID, ID: true})}
}

func recoveryOf(v *web.Request, id string) (*Data, error) {
	ctx := v.R.Context()
	r, err := v.Control.Run(ctx, v.Actor, id)
	if err != nil {
		return nil, err
	}
	i := uncertainStep(&r)
	if i < 0 {
		return nil, countersign.Errorf(countersign.CodeNotFound, "nothing is uncertain in run %s, and nothing was", id)
	}
	approvals, err := control.ListApprovals(ctx, v.Control, v.Actor, control.List{Limit: web.PageSize}, control.ApprovalFilter{RunID: id}, func(a countersign.Approval) (countersign.Approval, error) {
		return control.WithoutContent(a), nil
	})
	if err != nil {
		return nil, err
	}
	d := DataOf(r, i, approvals.Items)
	if d.Open {
		d.Refused = web.ProblemOf(v.Control.MayReconcile(ctx, v.Actor, id))
		if d.Alike, err = v.Control.ApprovalsLike(ctx, v.Actor, id); err != nil {
			return nil, err
		}
	}
	if d.Desk, err = desk.Of(v, desk.Recovery, id); err != nil {
		return nil, err
	}
	d.Later = desk.IsLater(v, id)
	return d, nil
}

// DataOf is the page of one step, of what its run says.
func DataOf(r countersign.Run, i int, approvals []countersign.Approval) *Data {
	d := &Data{Run: r, Step: &r.Steps[i], At: i + 1}
	d.Open = r.Status == countersign.RunRecoveryRequired && d.Step.Status == countersign.StepRecoveryRequired
	d.Early = d.Open && runs.Answerable(&r)
	d.Statements = statementsOf(d.Step)
	d.Known, d.Around = knownOf(&r, d.Step, approvals), stepsAround(&r, i)
	d.Others = drawn.ShownMembers(slices.Concat(request.Unlisted(d.Step.WithoutProofs(), append(slices.Clone(runs.StepListed), "settlements", "nextAt")...), runs.ReconciliationOthers(d.Step)))
	if d.Step.Request != nil {
		view := drawn.SentOf("request", *d.Step.Request)
		d.Request, d.Host = &view, view.Host
		view.Digest = d.Step.RequestDigest.Text()
		view.IdempotencyKey = d.Step.IdempotencyKey
	}
	d.plan()
	return d
}

// plan adds what the plan's snapshots say of the step.
func (d *Data) plan() {
	p := d.Run.PlanSnapshot
	if p == nil {
		return
	}
	d.Plan = p.Name
	d.Settles = settles(p, d.Step)
	capability := text.CapabilityOf(p, d.Step.ProjectID, d.Step.Capability)
	if project := text.ProjectOf(p, d.Step.ProjectID); project != nil {
		d.Project = project.Name
	}
	if capability != nil {
		d.Title = request.TitleOf(cost.New(nil, cost.InTurn, 0), capability, d.Step.Input)
		d.Probe = capability.Probe != "" && text.CapabilityOf(p, d.Step.ProjectID, capability.Probe) != nil
		d.Resolve.OutputField = capability.OutputField
	}
	d.Probe = d.Probe || d.Settles // the receiver is asked
	d.Expected = runs.ExpectationsFor(p, d.Step)
	d.Found = foundIn(d.Step, d.Expected, capability)
}

// Until is the latest time at which a response can arrive.
func (d *Data) Until() string { return runs.ClockSeconds(d.Run.WaitingFor.NotBefore) }

// Target is the called host, else the project.
func (d *Data) Target() string { return cmp.Or(d.Host, d.Step.ProjectID) }

// Next is the step with which the run continues, "" if there is none.
func (d *Data) Next() string {
	done := map[string]bool{d.Step.ID: true}
	for _, s := range d.Run.Steps {
		done[s.ID] = done[s.ID] || s.Status == countersign.StepCompleted
	}
	for _, s := range d.Run.Steps {
		ready := s.Status == countersign.StepPending
		for _, on := range s.DependsOn {
			ready = ready && done[on]
		}
		if ready {
			return s.Name
		}
	}
	return ""
}

// aroundShown is how many steps are shown on each side.
const aroundShown = 3

// stepsAround are the steps before and after one, in plan order.
func stepsAround(r *countersign.Run, at int) []approvals.StepSummary {
	var out []approvals.StepSummary
	for i := max(0, at-aroundShown); i < min(len(r.Steps), at+aroundShown+1); i++ {
		s := &r.Steps[i]
		step := approvals.StepSummary{N: i + 1, Name: s.Name, State: text.StepState(*s), Proved: approvals.ProvedBy(s), Here: i == at}
		if s.Status == countersign.StepPending && s.ApprovalRequired {
			step.Proved = "asks for approval first"
		}
		out = append(out, step)
	}
	return out
}
