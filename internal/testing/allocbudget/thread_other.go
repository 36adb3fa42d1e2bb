//go:build !linux

package allocbudget

import "time"

var start = time.Now()

// threadTime is the clock's: only Linux counts the time of a thread. Tries that other
// work made dearer don't decide.
func threadTime() (begun time.Duration, end func() time.Duration) {
	return time.Since(start), func() time.Duration { return time.Since(start) }
}
