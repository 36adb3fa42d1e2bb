package plan

import (
	"slices"
	"testing"
)

// TestNoStepHasTheKeyOfAProbe: keys of steps and of probes never meet.
func TestNoStepHasTheKeyOfAProbe(t *testing.T) {
	got := CheckIDs([]string{"pay", "pay.probe-1", "probe-1", "pay.probe-x", "a.probe-12", "pay.probe-1.x"})
	want := []string{"steps[1].id: it must not end as the keys of probes do, in .probe-1", "steps[4].id: it must not end as the keys of probes do, in .probe-12"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
