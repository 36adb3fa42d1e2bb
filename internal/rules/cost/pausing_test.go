package cost

import (
	"errors"
	"testing"
)

// TestAMeterPausesOnceASliceIsTaken, however many small takes make it, and ends the work with
// the pause's error.
func TestAMeterPausesOnceASliceIsTaken(t *testing.T) {
	pauses, gone := 0, error(nil)
	m := New(t.Context(), Most, 5).Pausing(func() error { pauses++; return gone })
	for range 10 * Slice / 1000 {
		m.Take(1000, "a")
	}
	if pauses != 10 || m.Over() {
		t.Errorf("%d pauses in ten slices: %v", pauses, m.Err())
	}
	gone = errors.New("gone")
	if m.Take(Slice, "a") || m.Take(1, "a") || !errors.Is(m.Err(), gone) || pauses != 11 {
		t.Errorf("%v after %d pauses", m.Err(), pauses)
	}
}
