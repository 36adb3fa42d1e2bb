package main

import (
	"context"

	"github.com/qmuntal/stateless"
)

type byStateless struct {
	world
	at      int
	machine *stateless.StateMachine
}

const next = 1 // the only trigger

func newStateless() *byStateless {
	b := &byStateless{world: world{amount: 120.5, color: "red"}}
	b.machine = stateless.NewStateMachineWithExternalStorage(
		func(context.Context) (stateless.State, error) { return b.at, nil },
		func(_ context.Context, s stateless.State) error { b.at = s.(int); return nil },
		stateless.FiringImmediate)
	for i := range last {
		b.machine.Configure(i).
			Permit(next, last, func(context.Context, ...any) bool { return b.skips() }).
			Permit(next, i+1, func(context.Context, ...any) bool { return b.goesOn(i) })
		b.machine.Configure(i + 1).OnEntry(func(context.Context, ...any) error { b.step = i + 1; return nil })
	}
	return b
}

func (b *byStateless) walk() (int, error) {
	b.at, b.step = 0, 0
	for b.at != last {
		if err := b.machine.Fire(next); err != nil {
			return b.at, err
		}
	}
	return b.at, nil
}
