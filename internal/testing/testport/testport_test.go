package testport

import "testing"

func TestAPortIsDrawnByOneTestAtATime(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // the lock files stay
	drawn := map[int]bool{}
	for range 2_000 { // of 22,000: without locks two of them would almost surely be equal
		port, release, err := Claim()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		if drawn[port] {
			t.Fatalf("%d was drawn twice", port)
		}
		drawn[port] = true
	}
}
