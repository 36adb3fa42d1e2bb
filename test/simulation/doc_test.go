// Package simulation runs the whole service, HTTP apart, under faults: the real
// use cases, engine, ledger and state machine, over a disk that fails and dies
// and a receiver that misbehaves, on a clock that jumps. A seed draws the
// configuration, a script of what several people and agents of two tenants do,
// and the faults; after each step every invariant is checked from two witnesses:
// what the receiver logged, and what the store and the audit log say.
//
//	go test ./test/simulation                      a thousand seeds, drawn anew; with -short a few
//	go test ./test/simulation -from 4711           those from this one on
//	go test ./test/simulation -seeds 10000         more of them
//	go test ./test/simulation -seed 4711 -v        one, with its script
//	go test ./test/simulation -run Postgre -postgres 100
//	                                               on a database, a second each and more
//
// A seed that failed once is kept in testdata/seeds.txt and is always played.
package simulation
