package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/test/gotest"
)

// race are the flags for the race detector, followed by a space.
var race = strings.Join(gotest.Race, " ") + " "

// fast is what a change must pass. A test belongs to it if it guards a rule of the service; each rule is
// guarded once. Parts and packages that take long are started first. The service under the race detector takes three
// times as long, so only one pass from outside uses it.
var fast = []part{
	{name: "outside", guards: "every rule as a user meets it; campaigns in their short form", estimate: minutes(4.5), flags: "-short",
		packages: "./cmd/... ./test/... -./test/linearizability", long: "./test ./test/browser ./test/docs ./test/abuse ./test/replicas ./test/crash"},
	{name: "inside", guards: "the packages with goroutines or I/O, under the race detector", estimate: minutes(4), flags: "-short " + race,
		packages: "./... -./test/... -./cmd/... ./test/linearizability" + without(pure),
		long:     "./internal/storage/postgres ./internal/storage/sqlite ./internal/background ./internal/runtime/runrepo ./test/linearizability ./internal/runtime/outbound ./internal/evidence/audit"},
	vet, typescriptPart(""), pythonPart(""),
	{name: "pure", guards: "the vocabulary, and the packages that decide and perform nothing", estimate: minutes(0.5), flags: "-short", packages: pure},
	{name: "postgres", guards: "starts, decisions, recovery and heartbeats with a PostgreSQL database, under the race detector", estimate: minutes(0.5),
		flags: "-short " + race, packages: "./test", args: "-postgres -run " + onPostgres + " -skip StopTheStart"},
	{name: "balanced", guards: "starts and events of runs on two replicas behind a balancer", estimate: minutes(0.5), flags: "-short",
		packages: "./test", args: "-postgres -replicas 2 -run " + onReplicas},
	modules,
}

var pure = ". ./internal/" + strings.Join(gotest.Pure, " ./internal/")

// without excludes packages from a part.
func without(packages string) string { return " -" + strings.ReplaceAll(packages, " ", " -") }

const onReplicas = "TestAKeyFindsItsRunBeyondItsArchiving|TestFiguresTell|TestEvents"

const onPostgres = "Start|Decision|Recover|Heartbeat"

// The parts of both tiers.
var (
	vet = part{name: "vet", guards: "format, and what vet finds", estimate: minutes(0.5), compiles: "go vet ./...", commands: []string{
		`unformatted=$(gofmt -l $(git ls-files '*.go')); [ -z "$unformatted" ] || { echo "not gofmt-ed: $unformatted"; exit 1; }`,
	}}
	modules = part{name: "modules", guards: "the benchmarks build; the making of releases", estimate: minutes(0.5),
		commands: []string{"cd bench && go vet ./... && go test -vet=off ./...", "cd release && go vet ./... && go test -vet=off ./..."}}
)

// everyCase makes the SDKs' tests run every case on which the verifiers of receipts must agree. Their
// parts are in both tiers; the fast tier runs a random share of the cases.
const everyCase = "COUNTERSIGN_ALL=1 "

func typescriptPart(variables string) part {
	return part{name: "typescript", guards: "the TypeScript SDK, its receiver kit and example", estimate: minutes(1),
		prepare:  "cd sdk/typescript && npm ci --no-audit --no-fund",
		commands: []string{"cd sdk/typescript && " + variables + "COUNTERSIGN_BINARY=$COUNTERSIGN_TEST_BINARY npm run check"}}
}

func pythonPart(variables string) part {
	return part{name: "python", guards: "the Python SDK, its receiver kit and examples; its types", estimate: minutes(1.5), commands: []string{
		"cd sdk/python && MYPY_CACHE_DIR=../../bin/mypy scripts/python -m mypy && " + variables + "COUNTERSIGN_BINARY=$COUNTERSIGN_TEST_BINARY PYTHONDONTWRITEBYTECODE=1 scripts/python -m pytest"}}
}

// full is everything, in parts of some minutes each. Estimates are for two processors with a warm build
// cache.
var full = append([]part{
	{name: "decisions", guards: "rules, evidence and platform in full", estimate: minutes(2.5), flags: race,
		packages: "./internal/rules/... ./internal/evidence/... ./internal/platform/..."},
	{name: "packages", guards: "all other packages but stores and the tests from outside, in full", estimate: minutes(4), flags: race,
		packages: "./... -./test/... -./internal/storage/... -./internal/rules/... -./internal/evidence/... -./internal/platform/..."},
	{name: "stores", guards: "both engines in full: faults of the disk, lost connections, failover", estimate: minutes(4), flags: race,
		packages: "./internal/storage/..."},
	{name: "power", guards: "power cuts that lose what was not synced", estimate: minutes(2), flags: race,
		packages: "./internal/storage/sqlite", args: "-run Power -losses 100"},
	{name: "disk", guards: "every operation on the disk fails, in each scenario", estimate: minutes(3), flags: race,
		packages: "./internal/storage/sqlite", args: "-run TestEveryFault -every"},
	{name: "api", guards: "the API in full", estimate: minutes(2), flags: race, packages: "./test"},
	{name: "api-postgres", guards: "the API with a PostgreSQL database behind each server", estimate: minutes(3), flags: race,
		packages: "./test", args: "-postgres"},
	{name: "whatif", guards: "what another policy would have asked is what it then asks, on 1,000 histories", estimate: minutes(4),
		packages: "./test", args: "-run WhatIfIs -whatif 1000"},
	{name: "judge", guards: "the service does what a second implementation of the contract says", estimate: minutes(4),
		packages: "./test/judge", args: "-sequences 2000"},
	{name: "again", guards: "the API, each function of a transaction run twice", estimate: minutes(3), flags: race,
		packages: "./test", args: "-again"},
	{name: "browser", guards: "the console's stories, and its pages in four views", estimate: minutes(3), flags: race, packages: "./test/browser", args: "-all"},
	{name: "callers", guards: "abuse, the manual's commands, steady work; the tests' own parts", estimate: minutes(4), flags: race,
		packages: "./test/abuse ./test/docs ./test/soak ./test/campaign ./test/gate ./test/gotest ./test/harness/... ./test/messages ./test/planted ./test/settlementmodel"},
	{name: "kill", guards: "kill -9 under load", estimate: minutes(3), flags: race, packages: "./test/crash", args: "-run KillUnderLoad$ -cycles 40"},
	{name: "kill-postgres", guards: "kill -9 under load on PostgreSQL", estimate: minutes(3.5), flags: race,
		packages: "./test/crash", args: "-run KillUnderLoadOnPostgreSQL -databases 10 -shared-cycles 40"},
	{name: "points", guards: "death at each crash point", estimate: minutes(2.5), flags: race, packages: "./test/crash", args: "-run Points$ -repeats 1"},
	{name: "points-postgres", guards: "death at each crash point on PostgreSQL", estimate: minutes(4), flags: race,
		packages: "./test/crash", args: "-run PointsOnPostgreSQL -databases 12 -shared-point= -repeats 1"},
	{name: "crash", guards: "the rest of the crash campaign", estimate: minutes(1), flags: race, packages: "./test/crash", args: "-skip KillUnderLoad|Points"},
	{name: "histories", guards: "linearizability of each kind of operation", estimate: minutes(3), flags: race,
		packages: "./test/linearizability", args: "-run Histories -histories 500"},
	{name: "histories-postgres", guards: "the same on PostgreSQL, half of them of two replicas", estimate: minutes(3), flags: race,
		packages: "./test/linearizability", args: "-run Histories.*/(postgres|replicas) -sparing 1 -histories 60"},
	{name: "races", guards: "each race repeated; the checkers against wrong histories", estimate: minutes(3), flags: race,
		packages: "./test/linearizability", args: "-skip Histories -repeats 50"},
	{name: "simulation", guards: "the whole service under faults; steady work in virtual time", estimate: minutes(4), flags: race,
		packages: "./test/simulation", args: "-skip OnPostgreSQL|ADayOfWork -seeds 1000"},
	{name: "simulation-postgres", guards: "the same on PostgreSQL", estimate: minutes(2.5), flags: race,
		packages: "./test/simulation", args: "-run OnPostgreSQL -postgres 40"},
	{name: "day", guards: "a day of mixed work in virtual time: every rule at each minute, nothing is left behind", estimate: minutes(5),
		packages: "./test/simulation", args: "-run ADayOfWork -day 1440"},
	{name: "calls", guards: "the kernel's calls fail under the real binary; a full disk", estimate: minutes(3.5), flags: race,
		packages: "./test/iofaults", args: "-injections 60"},
	{name: "restart", guards: "what a start finds and reads", estimate: minutes(3), flags: race, packages: "./test/restart", args: "-stored 3000 -unfinished 50"},
	{name: "replicas", guards: "replicas killed, frozen and upgraded; failover", estimate: minutes(4), flags: race, packages: "./test/replicas", args: "-rounds 3"},
	{name: "api-replicas", guards: "the API, each server three replicas behind a balancer that switches at every request", estimate: minutes(5),
		packages: "./test", args: "-postgres -replicas 3"},
	{name: "faults", guards: "every misbehaviour of a receiver", estimate: minutes(0.5), flags: race, packages: "./test/faults"},
	{name: "field", guards: "what receivers, API documents, clients and reports have shown, each as a case", estimate: minutes(0.5), flags: race,
		packages: "./test/field"},
	{name: "adapter", guards: "kill -9 of the adapter under load, and of service, adapter and upstream", estimate: minutes(2.5), flags: race, packages: "./test/adapter", args: "-cycles 100"},
	{name: "allocations", guards: "what hot functions allocate", estimate: minutes(0.5), commands: []string{"make bench-allocs"}},
	{name: "fuzz", guards: "each fuzz target for some 6 seconds", estimate: minutes(4), commands: []string{"make fuzz FUZZ_TIME=6s"}},
	vet,
	typescriptPart(everyCase),
	pythonPart(everyCase),
	modules,
	{name: "lint", guards: "the linter, import rules included; licences of dependencies", estimate: minutes(3), commands: []string{"make lint", "make licences"}},
	{name: "release", guards: "two builds of the binary, the second from nothing, are the same", estimate: minutes(4), commands: []string{"make release-check"}},
}, planted()...)

// planted are the parts for the planted bugs, each a share of them that takes some minutes. They search nothing:
// the search for one bug that its recorded test misses takes more than an hour.
func planted() (parts []part) {
	const shares = 12
	for n := range shares {
		parts = append(parts, part{name: fmt.Sprintf("planted-%d", n+1), guards: "a share of the planted bugs: a test notices each", estimate: minutes(3.5),
			commands: []string{fmt.Sprintf("make planted PLANTED_FLAGS='-jobs 2 -hinted -share %d/%d'", n+1, shares)}})
	}
	return parts
}

func minutes(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }
