package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/test/gotest"
)

// tier is a way to run tests; CONTRIBUTING.md explains the tiers.
type tier struct {
	name    string
	flags   []string
	timeout time.Duration // timeout of one test binary, enforced by `go test`
}

// The fast tier runs without the race detector first: tests use the detector only to build the service with
// it, so a test that fails without it also fails with it, and it takes half as long. A bug that is not caught
// is tried again with the detector.
var (
	fast      = tier{"fast", []string{"-short"}, 30 * time.Minute}
	fastRaced = tier{"fast-race", append([]string{"-short"}, gotest.Race...), 30 * time.Minute}
	full      = tier{"full", gotest.Race, 90 * time.Minute}
	tiers     = []tier{fast, fastRaced, full}
)

// isFast reports whether `make test` would catch the bug.
func (t tier) isFast() bool { return t.name != full.name }

func tierNamed(name string) (tier, error) {
	i := slices.IndexFunc(tiers, func(t tier) bool { return t.name == name })
	if i < 0 {
		return tier{}, fmt.Errorf("there is no tier %s", name)
	}
	return tiers[i], nil
}

// chosenTiers are the tiers to search, in order.
func chosenTiers(fastOnly, raced bool) []tier {
	out := slices.Clone(tiers)
	if raced {
		out = out[1:]
	}
	if fastOnly {
		out = slices.DeleteFunc(out, func(t tier) bool { return !t.isFast() })
	}
	return out
}
