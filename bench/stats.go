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

// median is, of an even number, the mean of the two in the middle.
func median[R any, T float64 | time.Duration](rows []R, of func(R) T) T {
	var all []T
	for _, x := range rows {
		all = append(all, of(x))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}
