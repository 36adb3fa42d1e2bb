package writebehind

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestAViewIsRegisteredBeforeACommitCanFollow: a commit keeps the rows of those commits that a
// View shows. A View that has chosen its commit and isn't among them yet would lose them.
func TestAViewIsRegisteredBeforeACommitCanFollow(t *testing.T) {
	l := New(1)
	viewed := make(chan error, 1)
	l.views.mu.Lock() // the View gets as far as its registration
	go func() { viewed <- l.View(nil, func(store.Tx) error { return nil }) }()
	if !waitsForLock("writebehind.(*views).began", func() bool { return false }) {
		t.Fatal("the View is not registered")
	}
	if l.mu.TryLock() {
		l.mu.Unlock()
		t.Error("a commit can follow before the View is registered")
	}
	l.views.mu.Unlock()
	if err := <-viewed; err != nil {
		t.Error(err)
	}
}

// waitsForLock waits until some goroutine waits for a lock in a function of this name, and reports
// true; false once over is, or after a minute.
func waitsForLock(function string, over func() bool) bool {
	stacks := make([]byte, 1<<20)
	for deadline := time.Now().Add(time.Minute); !over() && time.Now().Before(deadline); runtime.Gosched() {
		for one := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if header, rest, _ := strings.Cut(one, "\n"); strings.Contains(header, "Mutex.Lock") && strings.Contains(rest, function) {
				return true
			}
		}
	}
	return false
}

// WaitsForLock is for tests from outside.
var WaitsForLock = waitsForLock
