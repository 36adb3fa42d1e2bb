package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/test/gotest"
)

// tier is a way to run tests, with what CONTRIBUTING.md calls one.
type tier struct {
	name    string
	flags   []string
	timeout time.Duration // of one test binary; `go test` itself ends it
}

// The fast tier runs without the race detector first: no test asks for the detector
// but to build the service with it, so what fails without it fails with it, and it
// takes half as long. What is not caught so is tried with it.
var (
	fast      = tier{"fast", []string{"-short"}, 30 * time.Minute}
	fastRaced = tier{"fast-race", append([]string{"-short"}, gotest.Race...), 30 * time.Minute}
	full      = tier{"full", gotest.Race, 90 * time.Minute}
	tiers     = []tier{fast, fastRaced, full}
)

// isFast says whether a change that `make test` lets pass can't be this one.
func (t tier) isFast() bool { return t.name != full.name }

func tierNamed(name string) (tier, error) {
	i := slices.IndexFunc(tiers, func(t tier) bool { return t.name == name })
	if i < 0 {
		return tier{}, fmt.Errorf("there is no tier %s", name)
	}
	return tiers[i], nil
}

// chosenTiers are those to search, in turn.
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
