package runs

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// progress is a bar with one mark per step.
type progress []progressMark

type progressMark struct{ X, Width, Class string }

// Size of the bar in its own units.
const (
	stripWidth = 104.0
	stripGap   = 2.0
	stripMost  = 30 // most steps that are drawn
)

// progressOf is nil if there are too many steps to draw; the text beside it says the
// same.
func progressOf(r *countersign.Run) progress {
	n := len(r.Steps)
	if n == 0 || n > stripMost {
		return nil
	}
	width := (stripWidth - stripGap*float64(n-1)) / float64(n)
	marks := make(progress, n)
	for i := range r.Steps {
		marks[i] = progressMark{
			X: Tenth(float64(i) * (width + stripGap)), Width: Tenth(width), Class: markClasses[r.Steps[i].Status],
		}
	}
	return marks
}

var markClasses = map[countersign.StepStatus]string{
	countersign.StepCompleted: "on", countersign.StepSimulated: "on", countersign.StepRunning: "at", countersign.StepWaitingApproval: "pz",
	countersign.StepRecoveryRequired: "q", countersign.StepAbandoned: "q", countersign.StepFailed: "bad",
}

// Tenth is a number with one digit behind the point.
func Tenth(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// whereWords say which step a run is at, or its result.
func whereWords(r *countersign.Run) string {
	n := strconv.Itoa(len(r.Steps))
	switch r.Status {
	case countersign.RunCompleted:
		return resultWords(r)
	case countersign.RunReady:
		return "0 of " + n
	case countersign.RunCancelled:
		return cancelledBy(r)
	}
	i := presentStep(r)
	if i >= len(r.Steps) {
		return ""
	}
	return strconv.Itoa(i+1) + " of " + n + ", " + text.NameOf(&r.Steps[i]) + happenedWords(r)
}

// happenedWords adds that something of the run may have taken effect.
func happenedWords(r *countersign.Run) string {
	if words := r.HappenedWords(); words != "" {
		return ": " + words
	}
	return ""
}

func resultWords(r *countersign.Run) string {
	n := len(r.Steps)
	if r.Mode == countersign.ModeDryRun {
		return "nothing was sent"
	}
	return strconv.Itoa(n-r.UnverifiedSteps) + " of " + strconv.Itoa(n) + " verified"
}
