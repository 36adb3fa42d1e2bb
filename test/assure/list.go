package main

// campaigns are those of the assurance page, from quick to slow.
var campaigns = []campaign{
	{name: "matrix", what: "authorization: every route x principal x object", command: "go test -count=1 -run TestTheAuthorizationMatrix ./test", unit: "cells"},
	{name: "faults", what: "receiver: misbehaviour x kind of step x connection", command: "go test -count=1 -v -run TestEveryMisbehaviour ./test/faults", unit: "cases", counted: `(?m)^ *--- PASS: TestEveryMisbehaviour[^/]*/[^/]*/[^/]*/()`},
	{name: "restart", what: "restart on a store of this many runs, 100 unfinished, within 3 s", command: "go test -count=1 ./test/restart -stored %d -unfinished 100 -within 3s", figure: 10000, unit: "runs"},
	{name: "simulation", what: "simulation of the whole service under faults", command: "go test -count=1 -v -timeout 0 ./test/simulation -seeds %d", figure: 10000, unit: "seeds", counted: `(\d+) seeds:`},
}
