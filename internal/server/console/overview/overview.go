package overview

import (
	"cmp"
	"html/template"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Functions are the functions of the templates of the overview and the audit log.
var Functions = template.FuncMap{"subjectHref": subjectHref, "auditOutcome": auditOutcome, "refusedWith": refusedWith}

// Routes are the pages of the overview, of the audit log and of the search.
func Routes() []web.Route {
	return slices.Concat(frontRoutes(), auditRoutes(), searchRoutes())
}

func frontRoutes() []web.Route {
	return []web.Route{{Method: "GET", Path: "/{$}", Page: overviewPage}}
}

// How many entries of each kind the overview shows. Each kind is read from an index, so
// the cost doesn't grow with the store.
const (
	waitingShown  = 20
	waitingOfKind = 5 // uncertain outcomes, approvals, and what others must decide
	runningShown  = 8
	wrongShown    = 4
	finishedRead  = 16
	finishedShown = 6
	wrongFor      = 24 * time.Hour // how long a failed run is listed
	watchedAgents = 50
)

type overviewData struct {
	Mine      []waitingRow // the visitor may decide these
	Others    []waitingRow // somebody else must decide these
	MineOf    int          // of so many
	OthersOf  int
	More      bool // more runs wait than were read
	Figures   figures
	Running   []runs.Row
	Active    int
	Slots     int
	Wrong     []wrongRow
	WrongMore int
	Finished  []finishedRow
	Empty     bool // nothing was ever run
}

func overviewPage(v *web.Request) (*web.Page, error) {
	d := &overviewData{Slots: v.Config.MaxActive}
	for _, part := range []func(*web.Request, *overviewData) error{overviewWaiting, overviewFigures, overviewRunning, overviewWrong, overviewFinished} {
		if err := part(v, d); err != nil {
			return nil, err
		}
	}
	d.Empty = len(d.Mine)+len(d.Others)+len(d.Running)+len(d.Finished) == 0
	return &web.Page{Name: "overview", Title: "Overview", Nav: "overview", Crumbs: []web.Crumb{{Word: "Overview"}}, Data: d}, nil
}

// waitingRow is a run that waits for a decision.
type waitingRow struct {
	Title, Detail string
	State         text.State
	Since, Lapses time.Time
	Soon          bool // it expires within the hour
	Href, Act     string
	Bar           string // why the visitor can't decide
	Alike         string // address of a recovery of the same call, or of its approval
}

func overviewWaiting(v *web.Request, d *overviewData) error {
	list, more, err := v.Control.Waiting(v.R.Context(), v.Actor, waitingShown)
	if err != nil {
		return err
	}
	d.More = more
	names, err := namesOf(v, list)
	if err != nil {
		return err
	}
	alike, err := alikeOf(v, list)
	if err != nil {
		return err
	}
	shown := map[string]int{}
	for i := range list {
		row := waitingRowOf(&list[i], names[list[i].Run.PlanID], v.Now)
		row.Alike = alike[row.Href]
		kind, rows, of := row.Act, &d.Mine, &d.MineOf
		if list[i].Barred != nil {
			kind, rows, of = "", &d.Others, &d.OthersOf
		}
		if shown[kind]++; shown[kind] <= waitingOfKind {
			*rows = append(*rows, row)
		}
		*of++
	}
	return nil
}

// alikeOf joins approvals with recoveries of the same call: its capability and title. Who
// approves one may do again what the other has done.
func alikeOf(v *web.Request, list []control.Waiting) (map[string]string, error) {
	out := map[string]string{}
	if !slices.ContainsFunc(list, func(w control.Waiting) bool { return w.Approval == nil }) {
		return out, nil
	}
	for i := range list {
		a := list[i].Approval
		if a == nil || a.Title == "" {
			continue
		}
		runs, err := v.Control.RecoveriesLike(v.R.Context(), v.Actor, a.ID)
		if err != nil {
			return nil, err
		}
		for _, id := range runs {
			approval, recovery := web.Prefix+"/approvals/"+a.ID, web.Prefix+"/recovery/"+id
			out[approval], out[recovery] = recovery, approval
		}
	}
	return out, nil
}

func namesOf(v *web.Request, list []control.Waiting) (map[string]string, error) {
	runs := make([]countersign.Run, len(list))
	for i := range list {
		runs[i] = list[i].Run
	}
	return v.Control.PlanNames(v.R.Context(), v.Actor, runs)
}

func waitingRowOf(w *control.Waiting, plan string, now time.Time) waitingRow {
	r := &w.Run
	row := waitingRow{Since: r.UpdatedAt, State: text.RunStates[r.Status], Href: web.Prefix + "/recovery/" + r.ID, Act: "Recover"}
	id := ""
	if r.WaitingFor != nil {
		id, row.Since = r.WaitingFor.StepID, r.WaitingFor.Since
	}
	if w.Approval != nil {
		id, row.Since, row.Lapses = w.Approval.StepID, w.Approval.RequestedAt, w.Approval.ExpiresAt
		row.Soon = row.Lapses.Sub(now) < time.Hour
		row.State, row.Href, row.Act = text.ApprovalState(*w.Approval), web.Prefix+"/approvals/"+w.Approval.ID, "Review"
	}
	row.Title, row.Detail = cmp.Or(plan, r.ID), asker(r)+" asks"
	if i := text.StepIndex(r, id); i >= 0 {
		row.Detail = waitingDetail(w, &r.Steps[i])
	}
	if w.Approval != nil && w.Approval.Title != "" { // what is asked for, and not what it is part of
		row.Detail, row.Title = row.Title+": "+row.Detail, w.Approval.Title
	}
	if w.Barred != nil {
		row.Bar, row.Act = runs.BarredWords(w.Barred), ""
	}
	return row
}

// asker is who asked for a run: by name, where there is one.
func asker(r *countersign.Run) string { return cmp.Or(r.RequestedByName, text.Who(r.RequestedBy)) }

func waitingDetail(w *control.Waiting, s *countersign.StepRun) string {
	if w.Approval != nil {
		return text.NameOf(s) + ", " + w.Approval.Request.Method + " to " + text.HostOf(s) + "; " + asker(&w.Run) + " asks"
	}
	cause := "nobody knows whether it was done"
	if s.Error != nil {
		cause = text.InWords(s.Error.Message)
	}
	if s.Late != nil {
		cause += "; a late answer is there"
	}
	return text.NameOf(s) + ": " + cause
}

func overviewRunning(v *web.Request, d *overviewData) error {
	var list []countersign.Run
	for _, status := range []countersign.RunStatus{countersign.RunRunning, countersign.RunReady} {
		found, err := v.Control.Runs(v.R.Context(), v.Actor, control.List{Limit: runningShown}, control.RunFilter{Status: string(status)})
		if err != nil {
			return err
		}
		d.Active += found.Total
		list = append(list, found.Items...)
	}
	var err error
	d.Running, err = runs.RowsOf(v, list[:min(len(list), runningShown)])
	return err
}

// finishedRow is a run that ended, and how many that ended alike stand behind it.
type finishedRow struct {
	runs.Row
	Alike int
}

// overviewFinished lists the runs that ended last among those started last, since runs
// are indexed by their start. Those that ended alike, one after the other, are one row.
func overviewFinished(v *web.Request, d *overviewData) error {
	var ended []countersign.Run
	for _, status := range []countersign.RunStatus{countersign.RunCompleted, countersign.RunFailed, countersign.RunCancelled} {
		found, err := v.Control.Runs(v.R.Context(), v.Actor, control.List{Limit: finishedRead}, control.RunFilter{Status: string(status)})
		if err != nil {
			return err
		}
		ended = append(ended, found.Items...)
	}
	slices.SortStableFunc(ended, func(a, b countersign.Run) int {
		return cmp.Or(b.CompletedAt.Compare(a.CompletedAt), cmp.Compare(b.ID, a.ID))
	})
	rows, err := runs.RowsOf(v, ended[:min(len(ended), finishedRead)])
	d.Finished = alikeTogether(rows)
	return err
}

func alikeTogether(rows []runs.Row) (out []finishedRow) {
	for i := range rows {
		if last := len(out) - 1; last >= 0 && out[last].Title == rows[i].Title && out[last].State == rows[i].State && out[last].Step == rows[i].Step {
			out[last].Alike++
			continue
		}
		if len(out) == finishedShown {
			break
		}
		out = append(out, finishedRow{Row: rows[i]})
	}
	return out
}
