package main

import (
	"context"
	"strconv"

	"github.com/looplab/fsm"
)

// byLooplab evaluates the guards before it fires an event: the library has no guards, and a
// callback that cancels an event would take longer.
type byLooplab struct {
	world
	machine *fsm.FSM
}

func newLooplab() *byLooplab {
	b := &byLooplab{world: world{amount: 120.5, color: "red"}}
	var events fsm.Events
	for i := range last {
		at := strconv.Itoa(i)
		events = append(events, fsm.EventDesc{Name: "next", Src: []string{at}, Dst: strconv.Itoa(i + 1)})
		if i+1 < last { // from the state before the last one, next leads to the last state too
			events = append(events, fsm.EventDesc{Name: "skip", Src: []string{at}, Dst: strconv.Itoa(last)})
		}
	}
	b.machine = fsm.NewFSM("0", events, fsm.Callbacks{"after_next": func(context.Context, *fsm.Event) { b.step++ }})
	return b
}

func (b *byLooplab) walk() (int, error) {
	b.machine.SetState("0")
	b.step = 0
	for at := 0; at != last; at++ {
		event := ""
		switch {
		case b.skips():
			event = "skip"
		case b.goesOn(at):
			event = "next"
		}
		if err := b.machine.Event(context.Background(), event); err != nil {
			return at, err
		}
	}
	return strconv.Atoi(b.machine.Current())
}
