package runs

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Functions are the functions of the templates of runs.
var Functions = template.FuncMap{"tinted": tinted, "resolution": resolvedAs}

// Routes are the pages of runs; live is what viewers of the same run share.
func Routes(live *Views) []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/runs", Page: runsPage},
		{Method: "GET", Path: "/runs/{id}", Page: runPage},
		{Method: "GET", Path: "/runs/{id}/sheet/{step}", Page: sheetPage},
		{Method: "GET", Path: "/runs/{id}/live", Stream: func(v *web.Request) error { return runLive(v, live) }},
		{Method: "GET", Path: "/runs/{id}/cancel", Page: cancelPage},
		{Method: "POST", Path: "/runs/{id}/cancel", Act: cancelRun},
		{Method: "GET", Path: "/runs/{id}/keep", Page: keepPage},
		{Method: "POST", Path: "/runs/{id}/keep", Act: keepRun},
		{Method: "GET", Path: "/runs/{id}/again", Page: runAgainPage},
		{Method: "POST", Path: "/runs/{id}/again", Act: runAgain},
	}
}

type runsData struct {
	Rows     []Row
	Statuses []web.Filter
	Times    []web.Filter
	Pager    web.Pager
	Plan     string // the plan to which the list is filtered
	PlanName string
	AllPlans string // the list's address without that filter
	Narrowed bool
	Text     string
	Reasons  []web.Option // why runs ended
	Agents   []web.Option
	Calls    string      // the capability to which the list is filtered
	Kept     [][2]string // the filters of the address that the form doesn't have
}

// Periods are the choices of the time filter.
var Periods = []struct {
	Value, Word string
	Length      time.Duration
}{{"1h", "Last hour", time.Hour}, {"24h", "Last 24 h", 24 * time.Hour}, {"7d", "Last 7 days", 7 * 24 * time.Hour}}

func runsPage(v *web.Request) (*web.Page, error) {
	f, err := runFilter(v)
	if err != nil {
		return nil, err
	}
	l := v.List()
	found, err := v.Control.Runs(v.R.Context(), v.Actor, l, f)
	if err != nil {
		return nil, err
	}
	d := runsData{Plan: f.PlanID, AllPlans: v.WithParam("plan", ""), Narrowed: f != control.RunFilter{}}
	if d.Rows, err = RowsOf(v, found.Items); err != nil {
		return nil, err
	}
	d.Pager = v.Pager(l, len(found.Items), found.Total, found.NextOffset)
	d.Statuses, d.Times = v.Filters("status", statusChoices()...), v.Filters("since", periodChoices()...)
	d.Times[0].Word = "Any time"
	d.Text, d.Calls = f.Text, f.Capability
	for _, code := range countersign.RunReasons {
		d.Reasons = append(d.Reasons, web.Option{Value: string(code), Word: text.Titled(string(code)), Here: string(code) == f.Reason})
	}
	if d.Agents, err = agentChoices(v, f.AgentID); err != nil {
		return nil, err
	}
	for _, name := range []string{"status", "since", "plan"} {
		if now := v.Query(name); now != "" {
			d.Kept = append(d.Kept, [2]string{name, now})
		}
	}
	if len(d.Rows) > 0 {
		d.PlanName = d.Rows[0].Title
	}
	return &web.Page{Name: "runs", Title: "Runs", Nav: "runs", Crumbs: []web.Crumb{{Word: "Runs"}}, Data: d}, nil
}

func runFilter(v *web.Request) (f control.RunFilter, err error) {
	f.Status, f.PlanID, f.AgentID = v.Query("status"), v.Query("plan"), v.Query("agent")
	f.Text, f.Reason, f.Capability = strings.TrimSpace(v.Query("q")), v.Query("reason"), strings.TrimSpace(v.Query("capability"))
	if f.Reason != "" && !slices.Contains(countersign.RunReasons, countersign.Code(f.Reason)) {
		return f, countersign.Errorf(countersign.CodeInvalidRequest, "reason: no run ends with %q", f.Reason)
	}
	if f.Status != "" && !slices.Contains(countersign.RunStatuses, countersign.RunStatus(f.Status)) {
		return f, countersign.Errorf(countersign.CodeInvalidRequest, "status: there is no run status %q", f.Status)
	}
	if f.PlanID != "" && !countersign.ValidID(f.PlanID) {
		return f, countersign.Errorf(countersign.CodeInvalidRequest, "plan: this is no id")
	}
	since := v.Query("since")
	for _, s := range Periods {
		if s.Value == since {
			f.Since = v.Now.Add(-s.Length)
		}
	}
	if since != "" && f.Since.IsZero() {
		return f, countersign.Errorf(countersign.CodeInvalidRequest, "since: it is 1h, 24h or 7d, not %q", since)
	}
	return f, nil
}

// agentChoices are the agents to choose from; the selected one is included even if the
// first page lacks it.
func agentChoices(v *web.Request, now string) ([]web.Option, error) {
	found, err := v.Control.AgentNames(v.R.Context(), v.Actor, control.List{Limit: countersign.MaxPageLimit})
	if err != nil {
		return nil, err
	}
	var out []web.Option
	for _, a := range found {
		out = append(out, web.Option{Value: a.ID, Word: a.Name, Here: a.ID == now})
	}
	if now != "" && !slices.ContainsFunc(out, func(o web.Option) bool { return o.Here }) {
		out = append(out, web.Option{Value: now, Word: now, Here: true})
	}
	return out, nil
}

func statusChoices() (choices [][2]string) {
	for _, s := range countersign.RunStatuses {
		choices = append(choices, [2]string{string(s), text.RunStates[s].Word})
	}
	return choices
}

func periodChoices() (choices [][2]string) {
	for _, s := range Periods {
		choices = append(choices, [2]string{s.Value, s.Word})
	}
	return choices
}

// Row is a run in a list.
type Row struct {
	countersign.Run
	Title string
	State text.State
	Prog  progress
	Step  string // the current step, or the result
	Why   string // why it failed
}

// RowsOf adds the plan's name and the progress.
func RowsOf(v *web.Request, runs []countersign.Run) ([]Row, error) {
	names, err := v.Control.PlanNames(v.R.Context(), v.Actor, runs)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(runs))
	for i := range runs {
		r := &runs[i]
		rows[i] = Row{Run: *r, Title: cmp.Or(names[r.PlanID], r.ID), State: text.RunState(*r), Prog: progressOf(r), Step: whereWords(r)}
		if r.Status == countersign.RunFailed {
			rows[i].Why = failureWords(r)
		}
	}
	return rows, nil
}
