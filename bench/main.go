// Command bench measures the built product over HTTP, in turns with the systems that it is
// compared with. Absolute figures depend on the machine and on its other load at that time,
// so compare only the ratios within one execution.
//
// Without an argument it measures steps per second of the canonical workload: runs of
// sequential signed POSTs, each synced to disk before it is sent and after it is answered.
// It compares them with the limit of this machine and with DBOS Transact on PostgreSQL. The
// other benchmarks are:
//   - bench heartbeats: how much the heartbeats of many instances slow down the runs;
//   - bench replicas: several replicas on one PostgreSQL, compared with DBOS on the same
//     server;
//   - bench api: the API under load;
//   - bench history: a store with a million runs, compared with an empty one;
//   - bench approvals: lists of approvals where very many wait, compared with few;
//   - bench hour: an hour at half of the best throughput, with all that goes on beside runs;
//   - bench neighbors: a tenant beside another one's worst requests, on both stores;
//   - bench gate: what the gate adds to a call, beside the bare call;
//   - bench simulation: simulations, compared with state machine libraries.
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
	"approvals": measureApprovals, "desks": measureDesks, "hour": measureHour, "neighbors": measureNeighbors,
	"gate": measureGate,
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
