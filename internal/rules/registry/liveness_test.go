package registry_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

const (
	idle    = countersign.InstanceIdle
	busy    = countersign.InstanceBusy
	failing = countersign.InstanceError
)

func ago(seconds float64) time.Time {
	return noon.Add(-time.Duration(seconds * float64(time.Second)))
}

func TestWithoutEvidenceLivenessIsUnknown(t *testing.T) {
	for _, none := range []registry.Evidence{nil, {}} {
		if is, heard := registry.Liveness(none, noon); is != countersign.LivenessUnknown || !heard.IsZero() {
			t.Errorf("%s, heard %s", is, heard)
		}
	}
}

func TestEachStateHasItsLiveness(t *testing.T) {
	for state, want := range map[countersign.InstanceState]countersign.Liveness{
		idle: countersign.LivenessOnline, busy: countersign.LivenessBusy, failing: countersign.LivenessError,
	} {
		if is, heard := registry.Liveness(registry.Evidence{state: ago(1)}, noon); is != want || !heard.Equal(ago(1)) {
			t.Errorf("%s is %s, heard %s", state, is, heard)
		}
	}
}

// TestEvidenceCountsFor120Seconds, to the nanosecond.
func TestEvidenceCountsFor120Seconds(t *testing.T) {
	for _, state := range []countersign.InstanceState{idle, busy, failing} {
		if is, _ := registry.Liveness(registry.Evidence{state: ago(120)}, noon); is == countersign.LivenessStale {
			t.Errorf("%s of 120 s ago is STALE", state)
		}
		if is, heard := registry.Liveness(registry.Evidence{state: ago(120).Add(-1)}, noon); is != countersign.LivenessStale || !heard.Equal(ago(120).Add(-1)) {
			t.Errorf("%s of 120 s and a nanosecond ago is %s, heard %s", state, is, heard)
		}
	}
}

func TestWorstFreshInstanceSpeaksForTheAgent(t *testing.T) {
	tests := []struct {
		evidence registry.Evidence
		want     countersign.Liveness
		heard    time.Time
	}{
		{registry.Evidence{idle: ago(1), busy: ago(90), failing: ago(119)}, countersign.LivenessError, ago(1)},
		{registry.Evidence{idle: ago(1), busy: ago(90)}, countersign.LivenessBusy, ago(1)},
		{registry.Evidence{idle: ago(1), busy: ago(90), failing: ago(121)}, countersign.LivenessBusy, ago(1)},
		{registry.Evidence{idle: ago(1), failing: ago(121)}, countersign.LivenessOnline, ago(1)},
		{registry.Evidence{idle: ago(130), busy: ago(125), failing: ago(121)}, countersign.LivenessStale, ago(121)},
	}
	for _, test := range tests {
		if is, heard := registry.Liveness(test.evidence, noon); is != test.want || !heard.Equal(test.heard) {
			t.Errorf("%v: %s, heard %s", test.evidence, is, heard)
		}
	}
}

func TestInstanceSpeaksForItself(t *testing.T) {
	for want, i := range map[countersign.Liveness]countersign.Instance{
		countersign.LivenessOnline: {State: idle, ReceivedAt: ago(120)},
		countersign.LivenessBusy:   {State: busy, ReceivedAt: noon},
		countersign.LivenessError:  {State: failing, ReceivedAt: ago(3)},
		countersign.LivenessStale:  {State: failing, ReceivedAt: ago(120.5)},
	} {
		if is := registry.InstanceLiveness(i, noon); is != want {
			t.Errorf("%+v is %s, want %s", i, is, want)
		}
	}
}

// TestLivenessOfAnyInstances is the worst of those heard within 120 s, whatever
// their number: only the newest of each state is asked for.
func TestLivenessOfAnyInstances(t *testing.T) {
	rank := map[countersign.Liveness]int{
		countersign.LivenessStale: 1, countersign.LivenessOnline: 2, countersign.LivenessBusy: 3, countersign.LivenessError: 4,
	}
	rapid.Check(t, func(t *rapid.T) {
		want, newest, evidence := countersign.LivenessUnknown, time.Time{}, registry.Evidence{}
		for range rapid.IntRange(0, 8).Draw(t, "instances") {
			i := countersign.Instance{
				State:      rapid.SampledFrom([]countersign.InstanceState{idle, busy, failing}).Draw(t, "state"),
				ReceivedAt: ago(rapid.SampledFrom([]float64{0, 1, 60, 119, 120, 121, 4000}).Draw(t, "ago")),
			}
			if is := registry.InstanceLiveness(i, noon); rank[is] > rank[want] {
				want = is
			}
			if i.ReceivedAt.After(evidence[i.State]) {
				evidence[i.State] = i.ReceivedAt
			}
			if i.ReceivedAt.After(newest) {
				newest = i.ReceivedAt
			}
		}
		if is, heard := registry.Liveness(evidence, noon); is != want || !heard.Equal(newest) {
			t.Fatalf("%s, heard %s, want %s, heard %s", is, heard, want, newest)
		}
	})
}
