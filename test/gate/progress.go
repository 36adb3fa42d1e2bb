package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func (g *gate) begin(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = append(g.running, name)
}

func (g *gate) end(name string, passed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if passed {
		g.passed.Results[name] = true
	}
	g.running = slices.DeleteFunc(g.running, func(p string) bool { return p == name })
}

// printProgress prints a progress line periodically until it is stopped.
func (g *gate) printProgress() (stop func()) {
	done := make(chan struct{})
	tick := time.NewTicker(15 * time.Second)
	go func() {
		for {
			select {
			case <-tick.C:
				fmt.Fprintln(g.out, g.progress())
			case <-done:
				return
			}
		}
	}()
	return func() { tick.Stop(); close(done) }
}

// progress is the number of done and of all packages and commands, the time, and what is running.
func (g *gate) progress() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf("%s: %d of %d packages and commands, %d tests and checks passed, %d failed; running %s",
		elapsed(g.began), g.ended, g.planned, g.count["pass"], g.count["fail"], strings.Join(g.running, ", "))
}
