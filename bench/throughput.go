package main

import (
	"flag"
	"fmt"
	"time"
)

// measureSteps is the benchmark of steps per second.
func measureSteps(args []string) error {
	var w workload
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	w.flags(f)
	reps := f.Int("reps", 5, "interleaved repetitions")
	seconds := f.Int("seconds", 8, "seconds of the product in each repetition")
	_ = f.Parse(args) // it exits
	b, err := w.start()
	if err != nil {
		return err
	}
	defer b.clear()
	return b.compare(w, *reps, time.Duration(*seconds)*time.Second)
}

// row is one repetition.
type row struct {
	sync                  time.Duration
	ideal1, ideal2, ours  float64
	start50, gap50, gap99 time.Duration
}

func (b *bed) compare(w workload, reps int, d time.Duration) error {
	if _, err := b.p.drive(w.conc, 2*time.Second); err != nil { // warm up
		return err
	}
	fmt.Printf("%d runs at once, %d steps a run, %d repetitions\n", w.conc, w.steps, reps)
	fmt.Printf("%10s %12s %12s %12s %8s %10s %10s %10s\n", "fdatasync", "ideal1/s", "ideal2/s", "ours/s", "ratio1", "start p50", "gap p50", "gap p99")
	var rows []row
	for range reps {
		one, err := b.repeat(w.conc, d)
		if err != nil {
			return err
		}
		rows = append(rows, one)
		one.print("")
	}
	medianOf(rows).print("median")
	return b.p.stop()
}

func (b *bed) repeat(conc int, d time.Duration) (x row, err error) {
	if x.sync, err = fdatasync(b.dir, 500*time.Millisecond); err != nil {
		return x, err
	}
	if x.ideal2, err = ideal(b.dir, b.r, conc, d/4, 2); err != nil {
		return x, err
	}
	if x.ideal1, err = ideal(b.dir, b.r, conc, d/4, 1); err != nil {
		return x, err
	}
	res, err := b.p.drive(conc, d)
	x.ours, x.start50 = res.stepsPerSecond, quantile(res.starts, 0.5)
	x.gap50, x.gap99 = quantile(res.gaps, 0.5), quantile(res.gaps, 0.99)
	return x, err
}

func (x row) print(label string) {
	fmt.Printf("%10s %12.0f %12.0f %12.0f %8.2f %10s %10s %10s %s\n", x.sync.Round(time.Microsecond), x.ideal1, x.ideal2, x.ours, x.ours/x.ideal1,
		x.start50.Round(time.Microsecond), x.gap50.Round(time.Microsecond), x.gap99.Round(time.Microsecond), label)
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
