package harness

import "testing"

func TestAPortIsDrawnByOneTestAtATime(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // the claims' files stay
	drawn := map[string]bool{}
	for range 2_000 { // of 22,000: without a claim some two of them would be drawn twice, all but surely
		address := UnusedAddress(t)
		if drawn[address] {
			t.Fatalf("%s was drawn twice", address)
		}
		drawn[address] = true
	}
}
