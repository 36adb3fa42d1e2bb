package main

import "time"

// SQLite in Go is C that was translated: watched by the race detector too it takes
// some ten times as long, and what it shares between threads it locks by C's rules.
const race = "-race -gcflags=modernc.org/...=-race=false "

// fast is what a change must pass. What is in it is decided by what it guards: every
// rule of the service, each once. Packages that take long begin first.
var fast = []part{
	{name: "vet", guards: "format, and what vet finds", commands: []string{
		`unformatted=$(gofmt -l $(git ls-files '*.go')); [ -z "$unformatted" ] || { echo "not gofmt-ed: $unformatted"; exit 1; }`,
		"go vet " + race + "./...",
	}},
	{name: "tests", guards: "every rule, under the race detector; campaigns in their short form", flags: "-short " + race,
		packages: "./test ./test/browser ./test/replicas ./internal/store/postgres ./cmd/... ./test/... ./internal/... ./..."},
	{name: "typescript", guards: "the TypeScript SDK, its receiver kit and example", commands: typescript},
	{name: "postgres", guards: "starts, decisions, recovery and heartbeats with a PostgreSQL database", flags: "-short " + race, packages: "./test", args: "-postgres -run " + onPostgres},
	{name: "modules", guards: "the benchmarks build; the making of releases", commands: []string{"cd bench && go vet ./...", "cd release && go vet ./... && go test ./..."}},
}

const onPostgres = "Start|Decision|Recover|Heartbeat"

var typescript = []string{"cd sdk/typescript && npm ci --no-audit --no-fund && npm run check"}

// full is everything, in parts that each end within some minutes.
var full = []part{
	{name: "rooms", guards: "all packages but the tests from outside, in full, under the race detector", estimate: 4 * time.Minute, flags: race, packages: "./internal/... . ./client/... ./receiver/... ./cmd/... ./docs/... ./deploy/... ./examples/..."},
}
