package runs

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// trailLength is how many records the page shows.
const trailLength = 12

// trail is a run's history, newest first: its audit records if the visitor may read
// them, else what the run record says.
type trail struct {
	Audited bool
	Rows    []trailRow
	Total   int
	Href    string // the full list
}

type trailRow struct {
	At        time.Time
	Who, What string
	Change    string
	Refused   bool
}

func trailOf(v *web.Request, r *countersign.Run) (*trail, error) {
	if !v.Can(access.ReadAudit) {
		return trailOfRun(r), nil
	}
	subject := "run/" + r.ID
	found, err := v.Control.Audit(v.R.Context(), v.Actor, control.List{Limit: trailLength}, audit.Filter{Subject: subject}, false)
	if err != nil {
		return nil, err
	}
	t := &trail{Audited: true, Total: found.Total, Href: web.Prefix + "/audit?subject=" + subject}
	for i := range found.Items {
		t.Rows = append(t.Rows, recordRow(r, &found.Items[i]))
	}
	return t, nil
}

// actionTexts are the audit actions of a run. %s is the step.
var actionTexts = map[string]string{
	"runs.start": "Started the run", "run.run": "The run proceeds", "run.wait": "The run waits for approval",
	"run.strand": "The run is stuck", "run.recovery_required": "The run waits for a person", "run.complete": "The run completed", "run.fail": "The run failed",
	"run.cancel": "The run ended cancelled", "runs.cancel": "Asked to cancel", "runs.hold": "Changed the hold", "runs.redact": "Removed what the run held", "runs.reconcile": "Recorded what became of %s", "runs.probe": "Probed %s",
	"step.send": "Sent %s", "step.complete": "Judged the answer of %s", "step.simulate": "Rehearsed %s", "step.restart": "Takes %s up again",
	"steps.late": "A late answer of %s", "steps.probe_answered": "A probe of %s ended", "step.set_aside": "Set aside %s", "step.late_answer": "A late answer of %s", "step.answer_lost": "No answer of %s can come any more", "step.answer_overdue": "The time of the call of %s is over", "approval.request": "Asked for approval of %s", "approvals.decide": "Decided on %s",
	"approval.close": "Closed the approval of %s",
}

func recordRow(r *countersign.Run, rec *countersign.AuditRecord) trailRow {
	row := trailRow{At: rec.At, Who: text.Who(rec.Actor), Change: changeWords(rec), Refused: rec.Outcome != countersign.AuditDone}
	words := actionTexts[rec.Action]
	switch {
	case rec.Action == "approvals.decide" && !row.Refused:
		words = text.Titled(rec.After) + " %s"
	case words == "":
		words = rec.Action
	}
	step := "the step"
	if rec.Step != "" {
		step = text.StepTitle(r, text.StepIndex(r, rec.Step))
	}
	row.What = strings.ReplaceAll(words, "%s", step)
	return row
}

func changeWords(rec *countersign.AuditRecord) string {
	if rec.Outcome != countersign.AuditDone {
		return rec.Outcome
	}
	switch {
	case rec.Before == rec.After || rec.After == "":
		return rec.Before
	case rec.Before == "":
		return rec.After
	}
	return rec.Before + " → " + rec.After
}

// trailOfRun is the history that the run record itself contains.
func trailOfRun(r *countersign.Run) *trail {
	rows := []trailRow{{At: r.CreatedAt, Who: text.Called(r.RequestedBy, r.RequestedByName), What: "Started the run"}}
	add := func(at time.Time, by, what, change string) {
		if !at.IsZero() {
			rows = append(rows, trailRow{At: at, Who: by, What: what, Change: change})
		}
	}
	for i := range r.Steps {
		s, title := &r.Steps[i], text.StepTitle(r, i)
		if s.Attempt > 0 {
			add(s.StartedAt, "system", "Sent "+title, "")
		}
		if s.Attempt > 0 || s.Status == countersign.StepSimulated || s.Status == countersign.StepFailed {
			add(s.CompletedAt, "system", "Ended "+title, string(s.Status))
		}
		if s.Late != nil {
			add(s.Late.At, "system", "A late answer of "+title, "")
		}
		for _, p := range s.Probes {
			add(p.At, text.Called(p.By, p.ByName), "Probed "+title, "")
		}
		if s.Reconciliation != nil {
			add(s.Reconciliation.At, text.Called(s.Reconciliation.By, s.Reconciliation.ByName), "Recorded what became of "+title, s.Reconciliation.Resolution)
		}
	}
	add(r.CompletedAt, "system", "The run ended", string(r.Status))
	slices.Reverse(rows) // at equal times, later entries are newer
	slices.SortStableFunc(rows, func(a, b trailRow) int { return b.At.Compare(a.At) })
	return &trail{Rows: rows[:min(len(rows), trailLength)], Total: len(rows)}
}
