package console

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
	"github.com/countersign/countersign/internal/server/console/text"
)

type planData struct {
	countersign.Plan
	State   text.State
	Diagram template.HTML
	Steps   []planStep
	Errors  []string // those of no step
	Drift   countersign.Drift
	Runs    []countersign.Run
	Total   int              // of runs
	Done    *countersign.Run // the latest completed run of a LIVE plan
	Reason  field            // why it runs again
	Key     string           // idempotency key of this page view
	Problem *problem
	Does    []string // what a start does, in sentences
}

func (d *planData) Live() bool { return d.Mode == countersign.ModeLive }

// Owned reports a plan that an agent or team run made for itself; starting that again
// makes a new one.
func (d *planData) Owned() bool { return d.Team != nil || len(d.Agents) > 0 }

// outOfDate reports a valid plan whose model, projects or agents have changed since.
func (d *planData) outOfDate() bool { return d.Status == countersign.PlanReady && !d.Drift.Current }

func planPage(v *pageRequest) (*page, error) {
	d, err := planOf(v, v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return d.page(), nil
}

func (d *planData) page() *page {
	return &page{name: "plan", Title: cmp.Or(d.Name, d.ID), Nav: "plans", Crumbs: []crumb{{Word: "Plans", Href: "/plans"}, {Word: d.ID, ID: true}}, Data: d, status: d.Problem.status()}
}

const latestRuns = 5

func planOf(v *pageRequest, id string) (*planData, error) {
	ctx := v.r.Context()
	p, err := v.control.Plan(ctx, v.actor, id)
	if err != nil {
		return nil, err
	}
	d := &planData{Plan: control.Named(ctx, v.control, v.actor, p), State: planStates[p.Status], Key: v.cfg.NewID("start")}
	if d.Drift, err = v.control.Drift(ctx, v.actor, id); err != nil {
		return nil, err
	}
	runs, err := v.control.Runs(ctx, v.actor, control.List{Limit: latestRuns}, control.RunFilter{PlanID: id})
	if err != nil {
		return nil, err
	}
	d.Runs, d.Total = runs.Items, runs.Total
	if d.Done, err = lastDone(v, &p); err != nil {
		return nil, err
	}
	d.Reason = must(formOf(v, nil, "").area("reason", "Why again", "Shown to whoever approves it, and kept in the audit log with your name.", "", 2))
	err = v.control.Judging(ctx, v.actor, func(m *cost.Meter) { d.Steps, d.Errors = planSteps(m, p, v.query("step")) })
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
func lastDone(v *pageRequest, p *countersign.Plan) (*countersign.Run, error) {
	if p.Mode != countersign.ModeLive {
		return nil, nil
	}
	done, err := v.control.Runs(v.r.Context(), v.actor, control.List{Limit: 1}, control.RunFilter{PlanID: p.ID, Status: string(countersign.RunCompleted)})
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
func consequences(steps []planStep, live bool) []string {
	var asks, sends, reads int
	for _, s := range steps {
		switch c := s.Contract; {
		case c == nil, s.gate.Then == countersign.RuleDeny:
		case s.gate.Asks():
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
func startRun(v *pageRequest) (string, error) {
	id := v.r.PathValue("id")
	if err := v.control.Authorize(v.r.Context(), v.actor, access.StartRun, "plan/"+id); err != nil {
		return "", err
	}
	key := v.form("key")
	if !validKey(key) {
		return "", countersign.Errorf(countersign.CodeIdempotencyKeyRequired, "the form has no key; open the plan's page again")
	}
	d, err := planOf(v, id)
	if err != nil {
		return "", err
	}
	reason := v.form("reason")
	if d.unexplained(key, reason) {
		d.Reason.Wrong, d.Key = "Say why: this plan has completed before.", key
		p := d.page()
		p.status = http.StatusBadRequest
		return "", p
	}
	started, err := v.control.StartRun(v.r.Context(), v.actor, countersign.RunStart{PlanID: id, Reason: reason}, key)
	if err == nil {
		return "/runs/" + started.Run.ID, nil
	}
	refused := problemOf(err)
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
