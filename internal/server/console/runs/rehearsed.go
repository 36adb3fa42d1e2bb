package runs

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Comparison says whether a LIVE run, or one step of it, sends what was rehearsed.
type Comparison struct {
	RunID  string // of the rehearsal, "" for none
	Words  string
	Differ bool
}

// rehearsedRun is nil for a rehearsal.
func rehearsedRun(v *web.Request, r *countersign.Run) (*Comparison, error) {
	if r.Mode != countersign.ModeLive {
		return nil, nil
	}
	found, err := v.Control.Rehearsal(v.R.Context(), v.Actor, r.ID)
	if err != nil {
		return nil, err
	}
	return &Comparison{found.RehearsalID, rehearsalWords(found.Verdict, differing(found.Steps)), found.Verdict == countersign.RehearsalDifferent}, nil
}

// RehearsedStep is nil if the run can't be compared.
func RehearsedStep(v *web.Request, runID, stepID string) *Comparison {
	found, err := v.Control.Rehearsal(v.R.Context(), v.Actor, runID)
	if err != nil { // the run is archived or out of the visitor's scope
		return nil
	}
	i := slices.IndexFunc(found.Steps, func(s countersign.RehearsedStep) bool { return s.StepID == stepID })
	if i < 0 {
		return &Comparison{Words: rehearsalWords(found.Verdict, nil)}
	}
	step := found.Steps[i]
	return &Comparison{found.RehearsalID, rehearsalWords(step.Verdict, differing(found.Steps[i:i+1])), step.Verdict == countersign.RehearsalDifferent}
}

// differing names what differs: the parts of one step, or the steps.
func differing(steps []countersign.RehearsedStep) (names []string) {
	for _, s := range steps {
		for _, d := range s.Differences {
			name := d.Path
			if len(steps) > 1 {
				name = s.StepID
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func rehearsalWords(verdict string, differ []string) string {
	switch verdict {
	case countersign.RehearsalSame:
		return "matches"
	case countersign.RehearsalOpen:
		return "matches so far"
	case countersign.RehearsalDifferent:
		return "differs: " + strings.Join(differ, ", ")
	default:
		return "never rehearsed"
	}
}
