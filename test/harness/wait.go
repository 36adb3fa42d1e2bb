package harness

import (
	"testing"
	"time"
)

// patience is how long a test waits for what must happen soon. Only a failing test
// waits so long: it is a net against hanging, on whatever machine.
const patience = 5 * time.Minute

// look is how soon it looks again, and rarely how seldom it does so in the end: each
// look costs the server an answer.
const (
	look   = 2 * time.Millisecond
	rarely = 60 * time.Millisecond
)

// Until waits for a condition and fails the test when it does not come true.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := look; !holds(); pause = min(pause*3/2, rarely) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
		time.Sleep(pause)
	}
}
