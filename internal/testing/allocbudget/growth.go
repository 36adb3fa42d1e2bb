package allocbudget

import (
	"math"
	"testing"
	"time"
)

// growthTries is how often the cost of two sizes is measured. Other work on the machine can only
// make a try more expensive, so proportional work is recognized in at least one try, and other
// work in none.
const growthTries = 12

// shortest is the least CPU time of one try that can be compared.
const shortest = 2 * time.Millisecond

// Proportional fails if four times the size costs more than eight times as much: proportional work
// costs four times as much, quadratic work sixteen times. of makes the work for a size. The cost is
// the CPU time of this thread, which other work on the machine doesn't add to.
func Proportional(t testing.TB, n int, of func(n int) (work func())) {
	t.Helper()
	AtMost(t, 8, of(4*n), of(n))
}

// AtMost fails if work costs more than times as much as other.
func AtMost(t testing.TB, times float64, work, other func()) {
	t.Helper()
	least, otherLeast := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	repeats := repeatsOf(other)
	for range growthTries {
		otherLeast = min(otherLeast, cost(repeats, other))
		least = min(least, cost(repeats, work))
		if float64(least) <= times*float64(otherLeast) {
			return
		}
	}
	t.Errorf("it costs %.1f times as much, at most %.0f times is right", float64(least)/float64(otherLeast), times)
}

// repeatsOf is how often work must be repeated for its cost to be comparable.
func repeatsOf(work func()) int {
	for n := 1; ; n *= 2 {
		if n >= 1<<12 || cost(n, work) >= shortest {
			return n
		}
	}
}

func cost(repeats int, work func()) time.Duration {
	begun, end := threadTime()
	for range repeats {
		work()
	}
	return end() - begun
}
