// Package allocbudget bounds what functions cost by measures that are the same on every
// machine, as time is not: what hot ones allocate, in benchmarks (`make bench-allocs`
// runs them), and how the cost of others grows with what they are given, in tests.
package allocbudget

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
