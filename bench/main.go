// Command bench measures steps per second of the canonical workload (sequential
// signed POSTs, each synced before it is sent and after it is answered) beside
// what this machine allows in the same minute, and prints the ratio. Absolute
// figures of different machines or minutes can't be compared; ratios can.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	binary := flag.String("binary", "../bin/countersign", "the built product")
	conc := flag.Int("runs", 4, "runs at once")
	count := flag.Int("steps", 10, "steps a run")
	reps := flag.Int("reps", 5, "interleaved repetitions")
	seconds := flag.Int("seconds", 8, "seconds of the product in each repetition")
	dir := flag.String("dir", "", "where to write; default: a temporary directory")
	flag.Parse()
	if err := measure(*binary, *dir, *conc, *count, *reps, time.Duration(*seconds)*time.Second); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row is one repetition.
type row struct {
	sync                  time.Duration
	ideal1, ideal2, ours  float64
	start50, gap50, gap99 time.Duration
}

func measure(binary, dir string, conc, count, reps int, d time.Duration) error {
	if dir == "" {
		made, err := os.MkdirTemp("", "countersign-bench-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(made) }()
		dir = made
	}
	r, err := newReceiver(count)
	if err != nil {
		return err
	}
	defer func() { _ = r.server.Close() }()
	p, err := startProduct(binary, dir, r, conc)
	if err != nil {
		return err
	}
	if _, err := p.drive(conc, 2*time.Second); err != nil { // warm up
		return err
	}
	fmt.Printf("%d runs at once, %d steps a run, %d repetitions\n", conc, count, reps)
	fmt.Printf("%10s %12s %12s %12s %8s %10s %10s %10s\n", "fdatasync", "ideal1/s", "ideal2/s", "ours/s", "ratio1", "start p50", "gap p50", "gap p99")
	var rows []row
	for range reps {
		one, err := repeat(dir, r, p, conc, d)
		if err != nil {
			return err
		}
		rows = append(rows, one)
		one.print("")
	}
	medianOf(rows).print("median")
	return p.stop()
}

func repeat(dir string, r *receiver, p *product, conc int, d time.Duration) (x row, err error) {
	if x.sync, err = fdatasync(dir, 500*time.Millisecond); err != nil {
		return x, err
	}
	if x.ideal2, err = ideal(dir, r, conc, d/4, 2); err != nil {
		return x, err
	}
	if x.ideal1, err = ideal(dir, r, conc, d/4, 1); err != nil {
		return x, err
	}
	res, err := p.drive(conc, d)
	x.ours, x.start50 = res.stepsPerSecond, quantile(res.starts, 0.5)
	x.gap50, x.gap99 = quantile(res.gaps, 0.5), quantile(res.gaps, 0.99)
	return x, err
}

func (x row) print(label string) {
	fmt.Printf("%10s %12.0f %12.0f %12.0f %8.2f %10s %10s %10s %s\n", x.sync.Round(time.Microsecond), x.ideal1, x.ideal2, x.ours, x.ours/x.ideal1,
		x.start50.Round(time.Microsecond), x.gap50.Round(time.Microsecond), x.gap99.Round(time.Microsecond), label)
}

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[int(q*float64(len(d)-1))]
}

// medianOf takes each column's median by itself.
func medianOf(rows []row) row {
	return row{
		sync:   median(rows, func(x row) time.Duration { return x.sync }),
		ideal1: median(rows, func(x row) float64 { return x.ideal1 }), ideal2: median(rows, func(x row) float64 { return x.ideal2 }),
		ours:    median(rows, func(x row) float64 { return x.ours }),
		start50: median(rows, func(x row) time.Duration { return x.start50 }),
		gap50:   median(rows, func(x row) time.Duration { return x.gap50 }), gap99: median(rows, func(x row) time.Duration { return x.gap99 }),
	}
}

func median[T float64 | time.Duration](rows []row, of func(row) T) T {
	var all []T
	for _, x := range rows {
		all = append(all, of(x))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
