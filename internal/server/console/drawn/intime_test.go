package drawn

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }

func TestARunThatGoesOnKeepsItsAxisForAWhile(t *testing.T) {
	r := &countersign.Run{CreatedAt: began}
	for now, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 4, 100: 128, 128: 128, 129: 256} {
		if a := AxisOf(r, after(now)); a.From != began || a.To != after(want) {
			t.Errorf("after %d s it ends %s", now, a.To.Sub(began))
		}
	}
	r.CompletedAt = after(7)
	if a := AxisOf(r, after(100)); a.To != after(7) {
		t.Errorf("a run that has ended: %s", a.To.Sub(began))
	}
}

// TestTimeIsWhatItWasSpentWith: with a person, with the API, or unknown.
func TestTimeIsWhatItWasSpentWith(t *testing.T) {
	passed := &countersign.Verification{Status: countersign.VerificationPassed}
	rejected := &countersign.StepError{Code: countersign.CodeApprovalRejected}
	for name, c := range map[string]struct {
		step countersign.StepRun
		want []Stretch
	}{
		"not yet":           {countersign.StepRun{Status: countersign.StepPending}, nil},
		"verified":          {countersign.StepRun{Status: countersign.StepCompleted, StartedAt: after(20), CompletedAt: after(60), Verification: passed}, []Stretch{{"t-ok", "20.00%", "40.00%"}}},
		"nothing to verify": {countersign.StepRun{Status: countersign.StepCompleted, StartedAt: after(20), CompletedAt: after(60)}, []Stretch{{"t-rj", "20.00%", "40.00%"}}},
		"a hair at the end": {countersign.StepRun{Status: countersign.StepFailed, StartedAt: after(100), CompletedAt: after(100)}, []Stretch{{"t-no", "99.40%", "3"}}},
		"runs":              {countersign.StepRun{Status: countersign.StepRunning, StartedAt: after(50)}, []Stretch{{"t-run", "50.00%", "50.00%"}}},
		"waits":             {countersign.StepRun{Status: countersign.StepWaitingApproval, ApprovalID: "a", DependsOn: []string{"before"}}, []Stretch{{"t-w", "10.00%", "90.00%"}}},
		"approved, then sent": {countersign.StepRun{Status: countersign.StepCompleted, ApprovalID: "a", StartedAt: after(50), CompletedAt: after(60), Verification: passed},
			[]Stretch{{"t-w", "0.00%", "50.00%"}, {"t-ok", "50.00%", "10.00%"}}},
		"rejected": {countersign.StepRun{Status: countersign.StepFailed, Error: rejected, ApprovalID: "a", CompletedAt: after(40)}, []Stretch{{"t-w", "0.00%", "40.00%"}, {"t-rj", "40.00%", "3"}}},
		"unknown":  {countersign.StepRun{Status: countersign.StepRecoveryRequired, StartedAt: after(30)}, []Stretch{{"t-un", "30.00%", "70.00%"}}},
		"settled by a person": {countersign.StepRun{Status: countersign.StepCompleted, Verification: passed, StartedAt: after(30), CompletedAt: after(80), Reconciliation: &countersign.Reconciliation{At: after(80)}},
			[]Stretch{{"t-un", "30.00%", "50.00%"}, {"t-ok", "80.00%", "3"}}},
		"settled, and asked for anew": {countersign.StepRun{Status: countersign.StepWaitingApproval, ApprovalID: "b", StartedAt: after(30), Reconciliation: &countersign.Reconciliation{At: after(80)}},
			[]Stretch{{"t-w", "0.00%", "30.00%"}, {"t-un", "30.00%", "50.00%"}, {"t-w", "80.00%", "20.00%"}}},
	} {
		r := &countersign.Run{CreatedAt: began, Steps: []countersign.StepRun{{ID: "before", CompletedAt: after(10)}, c.step}}
		if got := (Axis{began, after(100)}).InTime(r, &r.Steps[1]); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
