// Package simulation runs the whole service without HTTP under faults: the real use cases, engine, run repository and state machine, on a
// disk that fails and crashes, with a receiver that misbehaves, and on a clock that jumps. A seed determines the configuration, a script
// of what several people and agents of two tenants do, and the faults. After each step every invariant is checked by two records: the
// receiver's log, and the store with its audit log.
//
//	go test ./test/simulation                      a thousand seeds, drawn anew; with -short a few
//	go test ./test/simulation -from 4711           those from this one on
//	go test ./test/simulation -seeds 10000         more of them
//	go test ./test/simulation -seed 4711 -v        one, with its script
//	go test ./test/simulation -run Postgre -postgres 100
//	                                               on a database, a second each and more
//	go test ./test/simulation -run OfReplicas$ -replicas 500
//	                                               on replicas that are cut off from the store, and not from the receiver
//	go test ./test/simulation -run OfRestores -restored 300
//	                                               on stores that are restored from a backup amid their work
//	go test ./test/simulation -run ADayOfWork -day 1440
//	                                               a day of mixed work on the embedded store
//	go test ./test/simulation -run ADayOfReplicas -day-replicas 1440 -day-postgres 60
//	                                               the same on replicas that come and go
//
// A seed that failed is kept in testdata/seeds.txt and is always played.
package simulation
