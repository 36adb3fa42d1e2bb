package allocbudget

import (
	"math"
	"testing"
	"time"
)

// growthTries is how often the smallest cost of two sizes is looked for. A machine that
// does other work makes a try dearer and none cheaper, so what is in proportion is seen
// to be in one of them; what isn't never is.
const growthTries = 12

// shortest is below what the processor's time of one try means something.
const shortest = 2 * time.Millisecond

// Proportional fails where four times the size costs more than eight times as much: what
// is in proportion costs four times as much, and what grows with the square sixteen
// times. of makes the work for a size. Cost is the processor's time of this thread, which
// other work doesn't take, and is compared with itself alone.
func Proportional(t testing.TB, n int, of func(n int) (work func())) {
	t.Helper()
	AtMost(t, 8, of(4*n), of(n))
}

// AtMost fails where some work costs more than so many times what other work costs.
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

// repeatsOf says how often work is done to cost enough to be compared.
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
