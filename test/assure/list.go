package main

// campaigns are the campaigns of the assurance page, from quick to slow.
var campaigns = []campaign{
	{name: "matrix", what: "authorization: every route x principal x object", command: "go test -count=1 -v -run TestTheAuthorizationMatrix ./test", unit: "cells", counted: `the matrix: (\d+) cells`},
	{name: "faults", what: "receiver: misbehaviour x kind of step x connection", command: "go test -count=1 -v -run TestEveryMisbehaviour ./test/faults", unit: "cases", counted: `(?m)^ *--- PASS: TestEveryMisbehaviour[^/]*/[^/]*/[^/]*/()`},
	{name: "again", what: "the API's tests, each function of a transaction run twice", command: "go test -count=1 -timeout 0 ./test -again", unit: "tests"},
	{name: "restart", what: "restart on a store of this many runs, 100 unfinished, within 3 s", command: "go test -count=1 -run FindsEveryRun ./test/restart -stored %d -unfinished 100 -within 3s", figure: 10000, unit: "runs"},
	{name: "soak", what: "steady work in virtual time: goroutines flat, nothing stuck", command: "go test -count=1 -timeout 0 -run Soak ./test/simulation -soak %dh", figure: 24, unit: "hours"},
	{name: "day", what: "a day of mixed work in virtual time on the embedded store: every rule at each minute, nothing is left behind", command: "go test -count=1 -timeout 0 -run ADayOfWork ./test/simulation -day %d", figure: 1440, unit: "minutes"},
	{name: "work", what: "steady work on the real binary: goroutines, descriptors, memory flat", command: "go test -count=1 -timeout 0 -run Work ./test/soak -for %dm", figure: 10, unit: "minutes"},
	{name: "viewers", what: "viewers of a live run of 100 steps: all see its end, nothing is left", command: "go test -count=1 -timeout 0 -run Viewers ./test/soak -steps 100 -viewers %d", figure: 200, unit: "viewers"},
	{name: "pages", what: "pages of the console at two widths, light and dark: axe-core, content policy, size", command: "go test -count=1 -timeout 0 -run Pages ./test/browser -all", unit: "pages"},
	{name: "paint", what: "first paint of each page within 200 ms, over this many runs", command: "go test -count=1 -timeout 0 -run Soon ./test/browser -paint 200ms -stored %d", figure: 100000, unit: "runs"},
	{name: "disk", what: "every operation on the disk fails, in each scenario", command: "go test -count=1 -timeout 0 -run TestEveryFault ./internal/storage/sqlite -every", unit: "operations"},
	{name: "power", what: "power cuts that lose what was not synced", command: "go test -count=1 -timeout 0 -run Power ./internal/storage/sqlite -losses %d", figure: 1000, unit: "cuts"},
	{name: "calls", what: "the kernel's calls fail under the real binary", command: "go test -count=1 -timeout 0 ./test/iofaults -injections %d", figure: 200, unit: "injections"},
	{name: "kill", what: "kill -9 under load, R against A", command: "go test -count=1 -timeout 0 -run KillUnderLoad$ ./test/crash -cycles %d", figure: 100, unit: "cycles"},
	{name: "kill-postgres", what: "kill -9 under load on PostgreSQL, R against A", command: "go test -count=1 -timeout 0 -run KillUnderLoadOnPostgreSQL ./test/crash -databases 10 -shared-cycles %d", figure: 200, unit: "cycles"},
	{name: "points", what: "death at each crash point", command: "go test -count=1 -timeout 0 -run Points$ ./test/crash -repeats %d", figure: 50, unit: "deaths at each"},
	{name: "points-postgres", what: "death at each crash point on PostgreSQL", command: "go test -count=1 -timeout 0 -run PointsOnPostgreSQL ./test/crash -databases 12 -shared-point= -repeats %d", figure: 5, unit: "deaths at each"},
	{name: "histories", what: "linearizability of compare-and-set, starts, decisions, heartbeats", command: "go test -count=1 -timeout 0 -run Histories ./test/linearizability -histories %d", figure: 2000, unit: "histories of each kind"},
	{name: "histories-postgres", what: "the same on PostgreSQL, half of them of two replicas", command: "go test -count=1 -timeout 0 -run Histories.*/(postgres|replicas) ./test/linearizability -sparing 1 -histories %d", figure: 400, unit: "histories of each kind"},
	{name: "races", what: "each race, under the race detector", command: "go test -race -count=1 -timeout 0 -skip Histories ./test/linearizability -repeats %d", figure: 1000, unit: "repeats"},
	{name: "simulation", what: "simulation of the whole service under faults", command: "go test -count=1 -v -timeout 0 -run TestSimulation$ ./test/simulation -seeds %d", figure: 10000, unit: "seeds", counted: `(\d+) seeds:`},
	{name: "simulation-postgres", what: "the same on PostgreSQL", command: "go test -count=1 -v -timeout 0 -run TestSimulationOnPostgreSQL ./test/simulation -postgres %d", figure: 300, unit: "seeds", counted: `(\d+) seeds:`},
	{name: "planted", what: "planted bugs, each caught", command: "go run ./test/planted", unit: "bugs"},
}
