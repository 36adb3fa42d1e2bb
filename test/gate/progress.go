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
	g.playing = append(g.playing, name)
}

func (g *gate) end(name string, passed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if passed {
		g.passed.add(name)
	}
	g.playing = slices.DeleteFunc(g.playing, func(p string) bool { return p == name })
}

// tellProgress prints a line now and then until it is stopped.
func (g *gate) tellProgress() (stop func()) {
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

// progress says how much of how many is done, since when, and what is being played.
func (g *gate) progress() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf("%s: %d of %d packages and commands, %d tests and checks passed, %d failed; playing %s",
		spent(g.began), g.ended, g.planned, g.count["pass"], g.count["fail"], strings.Join(g.playing, ", "))
}
