package main

import (
	"os"
	"runtime/debug"
)

// Most of what a step allocates is soon garbage and the live heap is small, so that collecting at
// each doubling would cost a tenth of the processor. The limit keeps garbage from growing with a
// large live heap.
const (
	garbagePercent = 200
	memoryLimit    = 1 << 30
)

// tuneMemory makes garbage collection less frequent, unless the operator has set Go's own
// variables.
func tuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(garbagePercent)
}
