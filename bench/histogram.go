package main

import (
	"math"
	"math/bits"
	"time"
)

// histogram counts durations in buckets, so that an hour of them takes no more memory than a
// second. Up to 64 µs a bucket is a microsecond wide; above, there are 32 to each power of two,
// so a quantile is at most 1/32 too large.
type histogram struct {
	counts [histogramBuckets]uint32
	n      int64
	max    time.Duration
}

// histogramBuckets reach to more than a day.
const (
	perOctave        = 32
	histogramBuckets = 32 * perOctave
)

func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.n++
	h.max = max(h.max, d)
}

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0).Microseconds())
	shift := max(bits.Len64(v)-6, 0)
	return min(perOctave*shift+int(v>>shift), histogramBuckets-1)
}

// bucketEnd is the longest duration of a bucket.
func bucketEnd(i int) time.Duration {
	shift := max(i/perOctave-1, 0)
	return time.Duration((uint64(i-perOctave*shift)+1)<<shift)*time.Microsecond - 1
}

// quantile is the least duration that a share q of all doesn't exceed, 0 if there are none.
func (h *histogram) quantile(q float64) time.Duration {
	rank := max(int64(math.Ceil(q*float64(h.n))), 1)
	for i, c := range h.counts {
		if rank -= int64(c); rank <= 0 {
			return min(bucketEnd(i), h.max)
		}
	}
	return 0
}

// beyond is how many durations lie above a quantile.
func (h *histogram) beyond(q float64) float64 { return (1 - q) * float64(h.n) }
