package recent_test

import (
	"testing"

	"github.com/countersign/countersign/internal/recent"
)

// TestWhatIsAskedForStaysAndTheRestGoes: memory is bounded, whatever is put.
func TestWhatIsAskedForStaysAndTheRestGoes(t *testing.T) {
	const limit = 10
	m := recent.New[int, string](limit)
	m.Put(-1, "asked for")
	for i := range 1000 {
		m.Put(i, "passing by")
		if v, ok := m.Get(-1); !ok || v != "asked for" {
			t.Fatalf("after %d others: %q, %v", i+1, v, ok)
		}
	}
	kept := 0
	for i := range 1000 {
		if _, ok := m.Get(i); ok {
			kept++
		}
	}
	if kept == 0 || kept >= limit {
		t.Errorf("%d others are kept", kept)
	}
}
