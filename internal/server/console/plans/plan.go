package plans

import (
	"cmp"
	"html/template"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

type planData struct {
	countersign.Plan
	State   text.State
	Diagram template.HTML
	Steps   []steps.PlanStep
	Errors  []string // those of no step
	Drift   countersign.Drift
	Runs    []countersign.Run
	Total   int              // of runs
	Done    *countersign.Run // the latest completed run of a LIVE plan
	Reason  form.Field       // why it runs again
	Key     string           // idempotency key of this page view
	Problem *web.Problem
	Does    []string // what a start does, in sentences
}

func (d *planData) Live() bool { return d.Mode == countersign.ModeLive }

// Owned reports a plan that an agent or team run made for itself; starting that again
// makes a new one.
func (d *planData) Owned() bool { return d.Team != nil || len(d.Agents) > 0 }

// outOfDate reports a valid plan whose model, projects or agents have changed since.
func (d *planData) outOfDate() bool { return d.Status == countersign.PlanReady && !d.Drift.Current }

func planPage(v *web.Request) (*web.Page, error) {
	d, err := planOf(v, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return d.page(), nil
}

func (d *planData) page() *web.Page {
	return &web.Page{Name: "plan", Title: cmp.Or(d.Name, d.ID), Nav: "plans", Crumbs: []web.Crumb{{Word: "Plans", Href: "/plans"}, {Word: d.ID, ID: true}}, Data: d, Status: d.Problem.Status()}
}

const latestRuns = 5

func planOf(v *web.Request, id string) (*planData, error) {
	ctx := v.R.Context()
	p, err := v.Control.Plan(ctx, v.Actor, id)
	if err != nil {
		return nil, err
	}
	d := &planData{Plan: control.Named(ctx, v.Control, v.Actor, p), State: planStates[p.Status], Key: v.Config.NewID("start")}
	if d.Drift, err = v.Control.Drift(ctx, v.Actor, id); err != nil {
		return nil, err
	}
	runs, err := v.Control.Runs(ctx, v.Actor, control.List{Limit: latestRuns}, control.RunFilter{PlanID: id})
	if err != nil {
		return nil, err
	}
	d.Runs, d.Total = runs.Items, runs.Total
	if d.Done, err = lastDone(v, &p); err != nil {
		return nil, err
	}
	d.Reason = form.Must(form.Of(v, nil, "").Area("reason", "Why again", "Shown to whoever approves it, and kept in the audit log with your name.", "", 2))
	err = v.Control.Judging(ctx, v.Actor, func(m *cost.Meter) { d.Steps, d.Errors = steps.OfPlan(m, p, v.Query("step")) })
	if err != nil && countersign.ErrorCode(err) != countersign.CodeInvalidRequest { // the steps say so where it was too much
		return nil, err
	}
	if d.outOfDate() {
		d.State = text.State{Class: "is-wait", Icon: "s-warn", Word: "Out of date"}
	}
	d.Does = consequences(d.Steps, d.Live())
	d.Diagram = planDiagram(p, d.Steps)
	return d, nil
}

// lastDone is the latest completed run of a LIVE plan, nil for none. Whoever starts it
// again says why: one click must not do it twice.
func lastDone(v *web.Request, p *countersign.Plan) (*countersign.Run, error) {
	if p.Mode != countersign.ModeLive {
		return nil, nil
	}
	done, err := v.Control.Runs(v.R.Context(), v.Actor, control.List{Limit: 1}, control.RunFilter{PlanID: p.ID, Status: string(countersign.RunCompleted)})
	if err != nil || len(done.Items) == 0 {
		return nil, err
	}
	return &done.Items[0], nil
}

// unexplained reports a start that would do again what is done and doesn't say why.
// Sending the form of the first start twice finds its run.
func (d *planData) unexplained(key, reason string) bool {
	return d.Done != nil && d.Done.IdempotencyKey != key && safetext.Blank(reason)
}

// consequences say what a start does.
func consequences(steps []steps.PlanStep, live bool) []string {
	var asks, sends, reads int
	for _, s := range steps {
		switch c := s.Contract; {
		case c == nil, s.Gate.Then == countersign.RuleDeny:
		case s.Gate.Asks():
			asks++
		case c.HasSideEffect():
			sends++
		default:
			reads++
		}
	}
	if !live {
		return []string{"Every request is built and checked; nothing is sent.", rehearsed(asks)}
	}
	var out []string
	if asks > 0 {
		out = append(out, text.Plural(asks, "step asks", "steps ask")+" for approval before anything is sent.")
	}
	if sends > 0 {
		out = append(out, text.Plural(sends, "step changes", "steps change")+" something without asking.")
	}
	if reads > 0 {
		out = append(out, text.Plural(reads, "step reads", "steps read")+" without asking.")
	}
	return out
}

func rehearsed(asks int) string {
	if asks == 0 {
		return "Live, no step asks for approval."
	}
	return "Live, " + text.Plural(asks, "step asks", "steps ask") + " for approval."
}

// startRun starts a run, once per page view, however often the button is pressed.
func startRun(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.StartRun, "plan/"+id); err != nil {
		return "", err
	}
	key := v.Form("key")
	if !validKey(key) {
		return "", countersign.Errorf(countersign.CodeIdempotencyKeyRequired, "the form has no key; open the plan's page again")
	}
	d, err := planOf(v, id)
	if err != nil {
		return "", err
	}
	reason := v.Form("reason")
	if d.unexplained(key, reason) {
		d.Reason.Wrong, d.Key = "Say why: this plan has completed before.", key
		p := d.page()
		p.Status = http.StatusBadRequest
		return "", p
	}
	started, err := v.Control.StartRun(v.R.Context(), v.Actor, countersign.RunStart{PlanID: id, Reason: reason}, key)
	if err == nil {
		return "/runs/" + started.Run.ID, nil
	}
	refused := web.ProblemOf(err)
	if refused == nil || refused.Code == countersign.CodeNotFound {
		return "", err
	}
	d.Problem, d.Key = refused, key // a refused start doesn't consume its key
	return "", d.page()
}

// validKey checks an idempotency key (contract 6): 1 to 255 visible ASCII characters.
func validKey(key string) bool {
	return key != "" && len(key) <= 255 && strings.IndexFunc(key, func(r rune) bool { return r < '!' || r > '~' }) < 0
}
