package throttle

import "time"

// Rate is how often a key may try: so many times at once, and then once in each
// interval.
type Rate struct {
	Burst int
	Every time.Duration
}

// A bucket is the moment at which it will be full again: each attempt moves that on
// by an interval. The zero time, and any that has passed, is a full bucket.

// Take counts an attempt, and says whether it may be made. What it returns is the
// bucket after it; a refused attempt leaves it as it was.
func (r Rate) Take(bucket, now time.Time) (after time.Time, allowed bool) {
	from := now
	if r.Holds(bucket, now) {
		from = bucket
	}
	if after = from.Add(r.Every); after.Sub(now) > r.most() {
		return bucket, false
	}
	return after, true
}

// Return is the bucket without one of the attempts that it holds.
func (r Rate) Return(bucket, now time.Time) time.Time {
	if !r.Holds(bucket, now) {
		return time.Time{}
	}
	return bucket.Add(-r.Every)
}

// maxAhead is how far a clock may have been ahead of this one for its attempts to
// count here. Beyond it a bucket is the work of a clock that was wrong, and would
// refuse for as long as that was.
const maxAhead = time.Hour

// Holds reports a bucket that holds an attempt still: it differs from a new one.
func (r Rate) Holds(bucket, now time.Time) bool {
	return bucket.After(now) && !bucket.After(now.Add(r.most()+maxAhead))
}

// most is how long an empty bucket takes to be full.
func (r Rate) most() time.Duration { return time.Duration(r.Burst) * r.Every }
