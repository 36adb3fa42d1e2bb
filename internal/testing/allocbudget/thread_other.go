//go:build !linux

package allocbudget

import "time"

var start = time.Now()

// threadTime uses the wall clock, since only Linux counts CPU time per thread. The least of several
// tries counts, so other work on the machine doesn't decide.
func threadTime() (begun time.Duration, end func() time.Duration) {
	return time.Since(start), func() time.Duration { return time.Since(start) }
}
