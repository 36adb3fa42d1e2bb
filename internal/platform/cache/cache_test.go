package cache_test

import (
	"testing"

	"github.com/countersign/countersign/internal/platform/cache"
)

// TestWhatIsAskedForStaysAndTheRestGoes: the cache keeps the values that are read and
// bounds its memory.
func TestWhatIsAskedForStaysAndTheRestGoes(t *testing.T) {
	const limit = 10
	m := cache.New[int, string](limit)
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

// TestValuesAreBoundedByTheirWeightToo: large values need more memory than the same
// number of small ones.
func TestValuesAreBoundedByTheirWeightToo(t *testing.T) {
	const most = 100
	m := cache.Weighed[int, int](1000, most)
	for i := range 1000 {
		m.PutWeighed(i, 1+i%60, 1+i%60)
		m.PutWeighed(i, 1+i%60, 1+i%60) // a value that is put again is weighed once
		if _, ok := m.Get(i); !ok {
			t.Fatalf("value %d is not kept", i)
		}
	}
	kept := 0
	for i := range 1000 {
		if v, ok := m.Get(i); ok {
			kept += v
		}
	}
	if kept == 0 || kept > most+2*60 {
		t.Errorf("kept %d, at most %d and the last of each generation", kept, most)
	}
}
