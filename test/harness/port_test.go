package harness

import "testing"

func TestAPortIsDrawnByOneTestAtATime(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // the lock files stay
	drawn := map[string]bool{}
	for range 2_000 { // of 22,000: without locks two of them would almost surely be equal
		address := UnusedAddress(t)
		if drawn[address] {
			t.Fatalf("%s was drawn twice", address)
		}
		drawn[address] = true
	}
}
