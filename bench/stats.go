package main

import (
	"slices"
	"time"
)

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[int(q*float64(len(d)-1))]
}

// median is the middle value. For an even number of values it is the mean of the middle two.
func median[T float64 | time.Duration](of []T) T {
	all := slices.Sorted(slices.Values(of))
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}
