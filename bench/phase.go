package main

import (
	"fmt"
	"time"
)

// phase has the measurements of one phase of the benchmark, with runs, heartbeats or both.
type phase struct {
	name           string
	stepsPerSecond float64
	tally
	cores, idle float64 // processors that the product used on average, and that were idle
	footprint
}

// observe calls work and measures the product meanwhile.
func (t *testbed) observe(name string, work func(*phase) error) (x phase, err error) {
	x.name = name
	before, err := t.p.busy()
	if err != nil {
		return x, err
	}
	begin := time.Now()
	if err := work(&x); err != nil {
		return x, err
	}
	after, err := t.p.busy()
	if err != nil {
		return x, err
	}
	took := time.Since(begin).Seconds()
	x.cores, x.idle = (after.product-before.product).Seconds()/took, (after.idle-before.idle).Seconds()/took
	x.footprint, err = t.p.footprint()
	return x, err
}

func printHead() {
	fmt.Printf("%-16s %8s %7s %8s %6s %5s %8s %8s %8s %6s %5s %9s %8s %8s\n", "", "steps/s", "sent", "accepted", "errors", "late", "p50", "p99", "max", "cores", "idle", "database", "log", "memory")
}

func (p phase) print(label string) {
	fmt.Printf("%-16s %8.0f %7d %8d %6d %5d %8s %8s %8s %6.2f %5.2f %9s %8s %8s %s\n", p.name, p.stepsPerSecond, p.sent, p.accepted, p.errors(), p.late,
		p.latency(0.5), p.latency(0.99), p.latency(1), p.cores, p.idle, megabytes(p.database), megabytes(p.log), megabytes(p.memory), label)
}

func (p phase) latency(q float64) string {
	if p.sent == 0 {
		return "-"
	}
	return quantile(p.latencies, q).Round(100 * time.Microsecond).String()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
