package main

import (
	"os"
	"runtime/debug"
)

// What a step allocates is soon garbage and what lives is small, so collecting at
// each doubling costs a tenth of the processor. The limit keeps that from
// growing where more lives.
const (
	garbagePercent = 200
	memoryLimit    = 1 << 30
)

// tuneMemory lets garbage grow further before it is collected, unless the operator
// has set Go's own variables.
func tuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(garbagePercent)
}
