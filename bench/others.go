package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is where a benchmark began: what it says of other work afterwards tells
// how far its figures can be trusted.
type machine struct {
	begin     time.Time
	all, ours time.Duration // processor time of everybody, and of this benchmark
}

func watchMachine() machine {
	return machine{time.Now(), allProcessors(), processorTime([]int{os.Getpid()})}
}

// print says how much of the machine others took. What is measured here comes from
// processes of ours, so that all the rest is others'.
func (m machine) print() {
	now := watchMachine()
	others := (now.all - m.all - (now.ours - m.ours)).Seconds() / now.begin.Sub(m.begin).Seconds()
	fmt.Printf("\nOther work took %.1f of %d processors meanwhile.\n", max(others, 0), runtime.NumCPU())
}

// allProcessors is the time in which they did something; 0 where it isn't said.
func allProcessors() (sum time.Duration) {
	doc, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(doc), "\n")
	for i, field := range strings.Fields(line) {
		const idle, waiting, last = 4, 5, 8 // guests' time is in user already
		if n, err := strconv.ParseInt(field, 10, 64); err == nil && i != idle && i != waiting && i <= last {
			sum += time.Duration(n) * tick
		}
	}
	return sum
}
