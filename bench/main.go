// Command bench measures the built product from outside, over HTTP, beside what
// it is compared with in the same minutes. Absolute figures of different machines
// or minutes can't be compared; ratios can.
//
// Without a word it measures steps per second of the canonical workload (runs of
// sequential signed POSTs, each synced before it is sent and after it is answered)
// beside what this machine allows and beside DBOS Transact on PostgreSQL. `bench
// heartbeats` measures what heartbeats of many instances cost the runs beside them,
// `bench replicas` several replicas on one PostgreSQL beside DBOS on the same,
// `bench api` the API under load, `bench history` a store with a million runs beside
// an empty one, `bench simulation` simulations beside state machine
// libraries.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

var benchmarks = map[string]func(args []string) error{
	"heartbeats": measureHeartbeats, "replicas": measureReplicas, "api": measureAPI, "simulation": measureSimulation, "history": measureHistory,
}

func main() {
	run, args := measureSteps, os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if run = benchmarks[args[0]]; run == nil {
			fmt.Fprintln(os.Stderr, "bench: there is no benchmark", args[0]+"; there are", slices.Sorted(maps.Keys(benchmarks)))
			os.Exit(2)
		}
		args = args[1:]
	}
	endCleanly()
	if err := run(args); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
