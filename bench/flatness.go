package main

import (
	"fmt"
	"time"
)

// flatness is when a quantile of a route counts as flat from the first part to the last.
type flatness struct {
	q     float64
	most  float64       // the last part's, to the first part's
	floor time.Duration // a quantile of the last part that is at most this is flat in any case
}

// Below the floors a ratio says more of the machine than of the product. A median of at most a
// millisecond is some syncs of the disk: one more or less is a ratio of its own. 10 ms is a time
// slice of the scheduler, which each request may wait for that shares 2 processors with those
// who send it. 100 ms is what a person doesn't notice, and a thousandth of all requests meets
// every rare pause of the machine: a slow sync, or another process.
var flat = []flatness{
	{0.5, 1.25, time.Millisecond},
	{0.99, 1.5, 10 * time.Millisecond},
	{0.999, 2, 100 * time.Millisecond},
}

// leastBeyond is how many durations must lie above a quantile, in the first part and the last:
// a quantile that rests on fewer is as random as the slowest request of all, and isn't judged.
const leastBeyond = 5

// judge compares a quantile of two parts. verdict is "flat", "GROWS", or why it isn't judged.
func (f flatness) judge(first, last *histogram) (ratio float64, verdict string) {
	a, b := first.quantile(f.q), last.quantile(f.q)
	if a > 0 {
		ratio = float64(b) / float64(a)
	}
	switch {
	case min(first.beyond(f.q), last.beyond(f.q)) < leastBeyond:
		return ratio, "too few"
	case b <= f.floor || ratio <= f.most:
		return ratio, "flat"
	}
	return ratio, "GROWS"
}

func (f flatness) String() string {
	return fmt.Sprintf("p%g at most %g times, or at most %s", 100*f.q, f.most, f.floor)
}
