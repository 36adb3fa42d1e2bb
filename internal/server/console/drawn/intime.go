package drawn

import (
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Axis is the time that steps are drawn along.
type Axis struct{ From, To time.Time }

// Stretch is a bar on an axis, in percent of it, or as wide as a hair.
type Stretch struct{ Class, X, Width string }

// hair is how wide, in percent, what takes no time to speak of would be: it is drawn with three
// units instead.
const hair = 0.6

// AxisOf is the time of a run: from its start to its end. One that goes on ends at twice, four
// times … a second, so that what is drawn stays as it is while time goes by.
func AxisOf(r *countersign.Run, now time.Time) Axis {
	a := Axis{From: r.CreatedAt, To: r.CompletedAt}
	if !a.To.IsZero() {
		return a
	}
	long := time.Second
	for long < now.Sub(a.From) {
		long *= 2
	}
	a.To = a.From.Add(long)
	return a
}

// at is where a time lies, in percent.
func (a Axis) at(t time.Time) float64 {
	whole := a.To.Sub(a.From)
	if whole <= 0 {
		return 0
	}
	return min(100, max(0, 100*float64(t.Sub(a.From))/float64(whole)))
}

// At is where a time lies on the axis.
func (a Axis) At(t time.Time) string { return percent(a.at(t)) }

func percent(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) + "%" }

// stretch is a bar; one without an end goes to the end of the axis.
func (a Axis) stretch(class string, from, to time.Time) Stretch {
	if to.IsZero() {
		to = a.To
	}
	x, end := a.at(from), a.at(to)
	if end-x < hair {
		return Stretch{class, percent(min(x, 100-hair)), "3"}
	}
	return Stretch{class, percent(x), percent(end - x)}
}

// InTime is what a step's time was spent with: hatched where a person was waited for, then the
// call, then that nobody knew.
func (a Axis) InTime(r *countersign.Run, s *countersign.StepRun) (out []Stretch) {
	if asked := readyAt(r, s); s.ApprovalID != "" {
		until := s.StartedAt
		if until.IsZero() {
			until = s.CompletedAt
		}
		out = append(out, a.stretch("t-w", asked, until))
	}
	if s.StartedAt.IsZero() {
		if !s.CompletedAt.IsZero() && s.ApprovalID != "" {
			out = append(out, a.stretch(fateOf(s), s.CompletedAt, s.CompletedAt))
		}
		return out
	}
	if unknown, known := unknownUntil(s); unknown {
		out = append(out, a.stretch("t-un", s.StartedAt, known))
		switch {
		case known.IsZero():
			return out
		case s.Status == countersign.StepWaitingApproval: // it is asked for anew
			return append(out, a.stretch("t-w", known, time.Time{}))
		}
		return append(out, a.stretch(fateOf(s), known, known))
	}
	return append(out, a.stretch(fateOf(s), s.StartedAt, s.CompletedAt))
}

// readyAt is when a step's turn came: when the last that it depends on had ended.
func readyAt(r *countersign.Run, s *countersign.StepRun) time.Time {
	at := r.CreatedAt
	for i := range r.Steps {
		for _, id := range s.DependsOn {
			if before := &r.Steps[i]; before.ID == id && before.CompletedAt.After(at) {
				at = before.CompletedAt
			}
		}
	}
	return at
}

// unknownUntil reports a step of which nobody knew whether it had happened, and when that ended.
func unknownUntil(s *countersign.StepRun) (unknown bool, known time.Time) {
	switch {
	case s.Reconciliation != nil:
		return true, s.Reconciliation.At
	case s.Status == countersign.StepRecoveryRequired, s.Status == countersign.StepAbandoned:
		return true, s.CompletedAt
	}
	return s.SettledBy != nil, s.CompletedAt
}

// fateOf is the class of what became of a step.
func fateOf(s *countersign.StepRun) string {
	switch s.Status {
	case countersign.StepCompleted:
		if text.Proven(s) {
			return "t-ok"
		}
	case countersign.StepFailed:
		if s.Error == nil || s.Error.Code != countersign.CodeApprovalRejected {
			return "t-no"
		}
	case countersign.StepRunning:
		return "t-run"
	case countersign.StepAbandoned:
		return "t-un"
	}
	return "t-rj"
}
