// Command bench measures the built product from outside, over HTTP, beside what
// it is compared with in the same minutes. Absolute figures of different machines
// or minutes can't be compared; ratios can.
//
// Without a word it measures steps per second of the canonical workload (runs of
// sequential signed POSTs, each synced before it is sent and after it is answered)
// beside what this machine allows and beside DBOS Transact on PostgreSQL. `bench
// heartbeats` measures what heartbeats of many instances cost the runs beside them.
package main

import (
	"fmt"
	"os"
)

func main() {
	run, args := measureSteps, os.Args[1:]
	if len(args) > 0 && args[0] == "heartbeats" {
		run, args = measureHeartbeats, args[1:]
	}
	if err := run(args); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
