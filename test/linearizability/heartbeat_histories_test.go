package linearizability

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// TestHeartbeatHistories: one instance sends heartbeats through several connections, in order, out of order and twice.
// Heartbeats wait for each other to share a commit, so many histories share one too.
func TestHeartbeatHistories(t *testing.T) {
	codes := []countersign.Code{countersign.CodeSequenceConflict, countersign.CodeInvalidRequest, countersign.CodeUnavailable}
	checkAll(t, kind{limit: narrow, parallel: lot, answers: codes, play: func(h *fixture, seed uint64) (porcupine.Model, *history, error) {
		b := &beats{h: h, instance: newID("i"), begun: h.now()}
		clients(seed, b.act)
		b.ask(background(), 0, beatOp{read: true})
		return beatSpec.model(), &b.history, nil
	}})
}

// beats is one history of one instance.
type beats struct {
	history
	h        *fixture
	instance string
	begun    time.Time
	last     atomic.Int64 // the last sequence sent
}

func (b *beats) act(client int, rng *rand.Rand) {
	ctx, end := hurried(rng)
	defer end()
	if rng.IntN(4) == 0 {
		b.ask(ctx, client, beatOp{read: true})
		return
	}
	in := beatOp{sequence: b.last.Load() + int64(rng.IntN(4)) - 1, state: pick(rng, countersign.InstanceIdle, countersign.InstanceIdle, countersign.InstanceBusy), skewed: rng.IntN(8) == 0}
	off := time.Duration(0)
	if in.skewed {
		off = 10 * time.Minute
	}
	in.sequence = max(in.sequence, 0)
	in.timestamp = b.begun.Add(off + pick(rng, 0, 0, 0, time.Second)).Format(time.RFC3339)
	b.last.Store(in.sequence)
	b.ask(ctx, client, in)
}

func (b *beats) ask(ctx context.Context, client int, in beatOp) {
	do(&b.history, client, in, func() beatAnswer {
		if in.read {
			return b.read(ctx)
		}
		ack, err := b.h.any().Heartbeat(ctx, ann, agentID("reader"), countersign.Heartbeat{
			InstanceID: b.instance, Sequence: in.sequence, State: in.state, Timestamp: in.timestamp,
		})
		if err != nil {
			return beatAnswer{answer: answerOf(err)}
		}
		return beatAnswer{duplicate: ack.Duplicate, is: beatState{received: ack.ReceivedAt.UnixMicro()}}
	})
}

// read finds the instance among those of its agent.
func (b *beats) read(ctx context.Context) beatAnswer {
	a, err := b.h.any().Agent(ctx, ann, agentID("reader"))
	if err != nil {
		return beatAnswer{answer: answerOf(err)}
	}
	i := slices.IndexFunc(a.Instances, func(i countersign.Instance) bool { return i.InstanceID == b.instance })
	if i < 0 {
		return beatAnswer{}
	}
	is := a.Instances[i]
	return beatAnswer{is: beatState{true, is.Sequence, is.State, is.Timestamp, is.ReceivedAt.UnixMicro()}}
}
