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

// Still is a condition for [Client.WaitRun]: the run has ended, or waits for a person to decide or
// reconcile (see its WaitingFor). A run that waits for a concurrency slot continues by itself.
func Still(r *countersign.Run) bool {
	return Ended(r) || r.WaitingFor != nil && r.WaitingFor.Kind != countersign.WaitSlot
}

// WaitRun waits until the run has ended, or until one of the given conditions holds, and returns the
// complete run. It follows the run's events, and polls if no events arrive. A run that fails is no
// error: see its Status.
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
	maxDeaf   = 3 // streams without an event, one after the other, before it only polls
)

// WatchRun returns the run's state now and after each change, in the form that lists have, until it
// has ended. Changes in quick succession may be combined.
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

// watch is one WatchRun. It returns only states newer than the last one.
type watch struct {
	client   *Client
	id       string
	yield    func(countersign.Run, error) bool
	revision int64
	deaf     int // consecutive streams without an event
	unseen   int // consecutive polls without a change
	over     bool
}

// stream reads events until the stream ends.
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

// poll reads the state once and waits. It follows every broken stream, so that the next stream is not
// requested at once.
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
