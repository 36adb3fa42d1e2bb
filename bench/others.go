package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is the processor time used when a benchmark began. At the end it shows how much
// other processes used meanwhile, and so how far the measurements can be trusted.
type machine struct {
	begin     time.Time
	all, ours time.Duration // of all processes, and of this benchmark with its descendants
}

func watchMachine() machine {
	return machine{time.Now(), allProcessors(), processorTime([]int{os.Getpid()})}
}

// print prints how much processor time other processes took. All processes that are measured
// are descendants of this one, so every other process counts as other work.
func (m machine) print() {
	now := watchMachine()
	others := (now.all - m.all - (now.ours - m.ours)).Seconds() / now.begin.Sub(m.begin).Seconds()
	fmt.Printf("\nOther work took %.1f of %d processors meanwhile.\n", max(others, 0), runtime.NumCPU())
}

// allProcessors is the time in which the processors were not idle; 0 if /proc/stat can't be
// read.
func allProcessors() (sum time.Duration) {
	doc, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(doc), "\n")
	for i, startAll := range strings.Fields(line) {
		const idle, waiting, last = 4, 5, 8 // the user time includes that of guests, which follows
		if n, err := strconv.ParseInt(startAll, 10, 64); err == nil && i != idle && i != waiting && i <= last {
			sum += time.Duration(n) * tick
		}
	}
	return sum
}
