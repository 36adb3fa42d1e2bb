package recovery

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Routes are the pages of recovery.
func Routes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/recovery", Page: recoveryPage},
		{Method: "GET", Path: "/recovery/{id}", Page: recoveryRunPage},
		{Method: "POST", Path: "/recovery/{id}/probe", Act: probeStep},
		{Method: "POST", Path: "/recovery/{id}/fill", Act: fillStep},
		{Method: "POST", Path: "/recovery/{id}/reconcile", Act: reconcileStep},
		{Method: "POST", Path: "/recovery/{id}/settle", Act: settleStep},
	}
}

// recoveryRow is a run with an uncertain step.
type recoveryRow struct {
	countersign.Run
	Step     *countersign.StepRun
	At, Of   int
	Since    time.Time
	Evidence string // the available evidence
}

type recoveryData struct {
	Rows  []recoveryRow
	Pager web.Pager
}

// recoveryPage lists the runs with an uncertain step.
func recoveryPage(v *web.Request) (*web.Page, error) {
	l := v.List()
	found, err := v.Control.Runs(v.R.Context(), v.Actor, l, control.RunFilter{Status: string(countersign.RunRecoveryRequired)})
	if err != nil {
		return nil, err
	}
	d := recoveryData{Pager: v.Pager(l, len(found.Items), found.Total, found.NextOffset)}
	for _, r := range found.Items {
		d.Rows = append(d.Rows, recoveryRowOf(r))
	}
	return &web.Page{Name: "recovery", Title: "Recovery", Nav: "recovery", Crumbs: []web.Crumb{{Word: "Recovery"}}, Data: d}, nil
}

func recoveryRowOf(r countersign.Run) recoveryRow {
	row := recoveryRow{Run: r, Of: len(r.Steps), Since: r.UpdatedAt}
	if r.WaitingFor != nil {
		row.Since = r.WaitingFor.Since
	}
	if i := uncertainStep(&r); i >= 0 {
		row.Step, row.At = &r.Steps[i], i+1
		row.Evidence = evidenceOf(row.Step)
	}
	return row
}

// uncertainStep is the index of the step with an unknown outcome, else of the last
// resolved one; -1 if none.
func uncertainStep(r *countersign.Run) int {
	found := -1
	for i := range r.Steps {
		s := &r.Steps[i]
		switch {
		case s.Status == countersign.StepRecoveryRequired:
			return i
		case found < 0 && !resolvedAt(s).IsZero(), found >= 0 && resolvedAt(s).After(resolvedAt(&r.Steps[found])):
			found = i
		}
	}
	return found
}

// resolvedAt is when a person or the receiver's word resolved a step, zero for never.
func resolvedAt(s *countersign.StepRun) (at time.Time) {
	if s.Reconciliation != nil {
		at = s.Reconciliation.At
	}
	if s.SettledBy != nil && s.SettledBy.At.After(at) {
		at = s.SettledBy.At
	}
	return at
}

func evidenceOf(s *countersign.StepRun) string {
	probes := text.Plural(len(s.Probes), "probe", "probes")
	switch {
	case len(s.Settlements) > 0:
		return "the API’s word is there"
	case s.Late != nil && len(s.Probes) > 0:
		return "a late answer and " + probes + " are there"
	case s.Late != nil:
		return "a late answer is there"
	case len(s.Probes) > 0:
		return probes
	}
	return "nothing but the request"
}
