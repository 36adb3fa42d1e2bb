package throttle

import "time"

// Rate is a token bucket's rate: Burst attempts at once, and then one in each interval.
type Rate struct {
	Burst int
	Every time.Duration
}

// A bucket is stored as the time at which it will be full again; each attempt moves that
// time by an interval. The zero time, or one in the past, is a full bucket.

// Take counts an attempt and reports whether it is allowed. It returns the bucket after the
// attempt; a refused attempt does not change it.
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

// Return gives back one attempt of the bucket.
func (r Rate) Return(bucket, now time.Time) time.Time {
	if !r.Holds(bucket, now) {
		return time.Time{}
	}
	return bucket.Add(-r.Every)
}

// maxAhead is how far ahead the clock may have been that wrote a bucket. A bucket further
// ahead was written by a wrong clock and is ignored: it would refuse attempts for that long.
const maxAhead = time.Hour

// Holds reports whether the bucket still counts an attempt, and so differs from a new one.
func (r Rate) Holds(bucket, now time.Time) bool {
	return bucket.After(now) && !bucket.After(now.Add(r.most()+maxAhead))
}

// most is how long an empty bucket takes to become full.
func (r Rate) most() time.Duration { return time.Duration(r.Burst) * r.Every }
