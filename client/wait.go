package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/countersign/countersign"
)

// Ended is the condition of [Client.WaitRun]: the run will never change again.
func Ended(r *countersign.Run) bool { return r.Status.IsTerminal() }

// Still is a condition for [Client.WaitRun]: the run has ended, or stands still
// until a person decides or reconciles (see its WaitingFor). A run that waits for a
// slot goes on by itself.
func Still(r *countersign.Run) bool {
	return Ended(r) || r.WaitingFor != nil && r.WaitingFor.Kind != countersign.WaitSlot
}

// WaitRun waits until the run has ended, or until one of the conditions given
// instead holds, and reads it whole. It follows the run's events, and polls where
// these don't come through. A run that fails is no error: see its Status.
func (c *Client) WaitRun(ctx context.Context, id string, until ...func(*countersign.Run) bool) (*countersign.Run, error) {
	if len(until) == 0 {
		until = []func(*countersign.Run) bool{Ended}
	}
	for r, err := range c.WatchRun(ctx, id) {
		if err != nil {
			return nil, err
		}
		for _, holds := range until {
			if holds(&r) {
				return c.Run(ctx, id)
			}
		}
	}
	return c.Run(ctx, id)
}

const (
	firstPoll = 250 * time.Millisecond
	slowPoll  = 5 * time.Second
	maxDeaf   = 3 // streams in a row without an event, before polling only
)

// WatchRun gives the run's state now and after each change, in the form of lists,
// until it has ended. Changes that follow each other closely may be given as one.
func (c *Client) WatchRun(ctx context.Context, id string) iter.Seq2[countersign.Run, error] {
	return func(yield func(countersign.Run, error) bool) {
		w := &watch{client: c, id: id, yield: yield, revision: -1}
		for !w.over {
			if w.deaf < maxDeaf {
				w.stream(ctx)
			}
			if !w.over {
				w.poll(ctx)
			}
		}
	}
}

// watch is one viewer. Only states newer than the last one seen are given.
type watch struct {
	client   *Client
	id       string
	yield    func(countersign.Run, error) bool
	revision int64
	deaf     int // streams in a row that gave nothing
	unseen   int // polls in a row that showed nothing new
	over     bool
}

// stream follows the events until they break off.
func (w *watch) stream(ctx context.Context) {
	w.deaf++
	err := w.client.events(ctx, runPath(w.id)+"/events", func(r countersign.Run) bool {
		w.deaf = 0
		w.see(r)
		return !w.over
	})
	var refused *Error
	if errors.As(err, &refused) && refused.Status < 500 {
		w.fail(err)
	}
}

// poll reads the state once and waits: behind every broken stream, so that the
// next one is not asked for at once.
func (w *watch) poll(ctx context.Context) {
	r, err := w.client.Run(ctx, w.id)
	switch {
	case err != nil:
		w.fail(err)
		return
	case r.Revision == w.revision:
		w.unseen++
	}
	listed := *r
	listed.PlanSnapshot = nil
	w.see(listed)
	if !w.over && !pause(ctx, min(firstPoll<<min(w.unseen, 8), slowPoll)) {
		w.fail(ctx.Err())
	}
}

func (w *watch) see(r countersign.Run) {
	if r.Revision <= w.revision {
		return
	}
	w.revision, w.unseen = r.Revision, 0
	w.over = !w.yield(r, nil) || Ended(&r)
}

func (w *watch) fail(err error) {
	if !w.over {
		w.over = true
		w.yield(countersign.Run{}, err)
	}
}
