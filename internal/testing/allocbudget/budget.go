// Package allocbudget bounds the cost of functions by measures that, unlike time, are the
// same on every machine. Benchmarks bound the allocations of functions on the hot path
// (`make bench-allocs` runs them); tests bound how the cost of others grows with their
// input.
package allocbudget

import "testing"

// Allocations measures f and fails if a call makes more than limit allocations on average.
func Allocations(b *testing.B, limit float64, f func()) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	if n := testing.AllocsPerRun(100, f); n > limit {
		b.Errorf("%.0f allocations a call; the limit is %.0f", n, limit)
	}
}
