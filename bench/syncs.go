package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// countSyncs counts the syncs of each contender in one turn under strace. strace slows them
// down, so this is a separate turn on separate stores.
func (c *comparison) countSyncs(s *findings) error {
	if _, err := exec.LookPath("strace"); err != nil {
		fmt.Fprintln(os.Stderr, "NOT MEASURED: syncs a step: strace is not installed")
		return nil
	}
	b, err := c.startAll(true)
	if err != nil {
		return err
	}
	defer b.clear()
	for i, x := range b.contenders() {
		if _, bare := x.(*ideal); bare {
			continue // it counts its syncs itself
		}
		if _, err := x.drive(c.conc, time.Second); err != nil { // warm up
			return err
		}
		if s.rows[i].syncsPerStep, err = c.syncsPerStep(x); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) syncsPerStep(x contender) (float64, error) {
	before, err := x.syncs()
	if err != nil {
		return 0, err
	}
	res, err := x.drive(c.conc, c.phase/2)
	if err != nil {
		return 0, err
	}
	after, err := x.syncs()
	return float64(after-before) / float64(res.steps), err
}
