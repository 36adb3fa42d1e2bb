package harness

import (
	"testing"
	"time"
)

// patience is how long a test waits for what must happen soon. Only a failing test
// waits so long: it keeps a test from hanging, on whatever machine.
const patience = 5 * time.Minute

// The pauses between two looks at a condition grow: each look costs the server an
// answer.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 60 * time.Millisecond
)

// Until waits for a condition and fails the test when it does not come true.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := firstPause; !holds(); pause = min(pause*3/2, longestPause) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
		time.Sleep(pause)
	}
}
