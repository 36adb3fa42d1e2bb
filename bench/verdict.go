package main

import (
	"errors"
	"fmt"
	"slices"
)

// The limits of the benchmark: heartbeats must not fail, take more than a fifth of the runs'
// throughput, or make the store grow.
const (
	leastRatio = 0.8
	mostGrowth = 0.01 // share of the database with the instances and no run
	mostLate   = 0.01 // share of the heartbeats; if more are late the rate was not reached
)

// verdict has the measurements that are compared with the limits at the end.
type verdict struct {
	all           tally
	ratios        []float64
	instancesOnly int64 // bytes of the database with the instances and no run
	before, after int64 // bytes of the database before and after the phase of heartbeats alone
	log           int64 // bytes of the log after that phase
	beats         int   // heartbeats of that phase
}

// addCounts adds the heartbeats of a phase.
func (v *verdict) addCounts(x phase) {
	x.latencies = nil
	v.all.add(x.tally)
}

// conclude prints the results, and returns an error if one of them exceeds its limit.
func (v *verdict) conclude() error {
	return errors.Join(v.delivery(), v.throughput(), v.size())
}

func (v *verdict) delivery() error {
	fmt.Printf("heartbeats: %d sent, %d accepted, %d late\n", v.all.sent, v.all.accepted, v.all.late)
	var late error
	if float64(v.all.late) > mostLate*float64(v.all.sent) {
		late = fmt.Errorf("the rate was not reached: %d of %d heartbeats were sent more than %s late", v.all.late, v.all.sent, tolerance)
	}
	if n := v.all.errors(); n > 0 {
		return errors.Join(fmt.Errorf("%d heartbeats were not accepted, the first: %w", n, v.all.failed), late)
	}
	return late
}

func (v *verdict) throughput() error {
	if len(v.ratios) == 0 {
		return nil
	}
	ratio := median(v.ratios)
	fmt.Printf("steps a second beside heartbeats, of those without: median %.2f (%.2f to %.2f), at least %.2f wanted\n", ratio, slices.Min(v.ratios), slices.Max(v.ratios), leastRatio)
	if ratio < leastRatio {
		return fmt.Errorf("beside heartbeats the runs reach %.3f of their throughput, less than %.2f", ratio, leastRatio)
	}
	return nil
}

// size compares the growth with the size of the database with the instances alone, a few
// megabytes. Compared with the size after the runs, any growth would look small.
func (v *verdict) size() error {
	grown := v.after - v.before
	share := float64(grown) / float64(v.instancesOnly)
	fmt.Printf("%d heartbeats alone: database %s, then %+d bytes (%+.2f %% of the %s with instances and no run), at most %.0f %% wanted; log %s\n",
		v.beats, megabytes(v.before), grown, 100*share, megabytes(v.instancesOnly), 100*mostGrowth, megabytes(v.log))
	if share > mostGrowth {
		return fmt.Errorf("heartbeats make the database grow: by %d bytes after %d heartbeats", grown, v.beats)
	}
	return nil
}
