package harness

import (
	"testing"
	"time"
)

// patience bounds a wait for something that must happen soon, so that a failing test doesn't hang. A
// passing test never waits that long.
const patience = 5 * time.Minute

// The pauses between two checks of a condition grow, since each check costs the server an answer.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 60 * time.Millisecond
)

// Until waits for a condition, and fails the test if it doesn't become true.
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
