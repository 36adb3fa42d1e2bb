// Package budget bounds what hot functions may allocate, in benchmarks: unlike time,
// it is the same on every machine. `make bench-allocs` runs them.
package budget

import "testing"

// Allocations measures f and fails where it allocates more often than most.
func Allocations(b *testing.B, most float64, f func()) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	if n := testing.AllocsPerRun(100, f); n > most {
		b.Errorf("%.0f allocations of at most %.0f", n, most)
	}
}
