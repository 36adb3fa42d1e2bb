package harness

import (
	"testing"
	"time"
)

// patience is how long a test waits for what must happen soon. It is generous:
// only a failing test waits so long.
const patience = 30 * time.Second

// look is how often it looks.
const look = 5 * time.Millisecond

// Until waits for a condition and fails the test when it does not come true.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
		<-tick.C
	}
}
