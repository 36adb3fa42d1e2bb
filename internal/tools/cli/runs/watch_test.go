package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

func TestAWatchPrintsWhatChangedAndNothingElse(t *testing.T) {
	at := time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC)
	now := countersign.Run{ID: "run-1", Status: countersign.RunRunning, UpdatedAt: at, Steps: []countersign.StepRun{{ID: "a", Status: countersign.StepRunning}, {ID: "later", Status: countersign.StepPending}}}
	var out strings.Builder
	printChanges(&out, &countersign.Run{}, &now)
	next := now
	next.Steps = []countersign.StepRun{{ID: "a", Status: countersign.StepCompleted, Verification: &countersign.Verification{Status: "PASSED", Field: "ok", Expected: countersign.Bool(true)}}, now.Steps[1]}
	printChanges(&out, &now, &next)
	printChanges(&out, &next, &next)
	want := `2026-11-21 15:04:05  a      RUNNING
2026-11-21 15:04:05  run    RUNNING
2026-11-21 15:04:05  a      COMPLETED  PASSED, ok: expected true, actual absent
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}
