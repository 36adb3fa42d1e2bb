package linearizability

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// TestAgentHistories: manifests of the same and of different revisions, concurrent with admissions and suspensions.
func TestAgentHistories(t *testing.T) {
	codes := []countersign.Code{countersign.CodeRevisionConflict, countersign.CodeNotFound, countersign.CodeManifestConflict, countersign.CodeUnavailable}
	checkAll(t, kind{limit: narrow, parallel: 12, answers: codes, play: func(h *fixture, seed uint64) (porcupine.Model, *history, error) {
		name := newID("a")
		played := &history{}
		var last atomic.Int64
		clients(seed, func(client int, rng *rand.Rand) {
			in := drawAgentOp(rng, last.Load())
			ctx, end := hurried(rng)
			defer end()
			if in.what == "sync" {
				h.syncOne(ctx, played, client, name, in)
				return
			}
			out := do(played, client, in, func() agentAnswer { return h.askAgent(ctx, name, in) })
			last.Store(out.revision)
		})
		do(played, 0, agentOp{what: "read"}, func() agentAnswer { return h.askAgent(background(), name, agentOp{what: "read"}) })
		return agentSpec.model(), played, nil
	}})
}

func drawAgentOp(rng *rand.Rand, seen int64) agentOp {
	in := agentOp{what: pick(rng, "sync", "sync", "sync", "read", "read", "admit", "admit", "suspend"), expected: -1}
	switch {
	case in.what == "sync":
		in.source, in.content = int64(1+rng.IntN(4)), pick(rng, "helps", "sells")
	case in.what != "read" && rng.IntN(2) == 0:
		in.expected = seen
	}
	return in
}

// syncOne sends a manifest. Its answer has the agent as read after the manifest was stored, so it is recorded as a sync
// and a read.
func (f *fixture) syncOne(ctx context.Context, played *history, client int, name string, in agentOp) {
	call := tick()
	list, err := f.any().SyncAgents(ctx, ada, shop, manifest(in.source, in.content, name))
	ret := tick()
	played.record(client, in, agentAnswer{answer: answerOf(err)}, call, ret)
	if err == nil {
		played.record(client, agentOp{what: "read"}, ofAgent(list[0], nil), call, ret)
	}
}

func (f *fixture) askAgent(ctx context.Context, name string, in agentOp) agentAnswer {
	d := countersign.Admission{Reason: "so decided"}
	if in.expected >= 0 {
		d.ExpectedRevision = &in.expected
	}
	switch in.what {
	case "admit":
		return ofAgent(f.any().AdmitAgent(ctx, ada, agentID(name), d))
	case "suspend":
		return ofAgent(f.any().SuspendAgent(ctx, ada, agentID(name), d))
	default:
		a, err := f.any().Agent(ctx, ada, agentID(name))
		return ofAgent(a.AgentRecord, err)
	}
}

func ofAgent(a countersign.Agent, err error) agentAnswer {
	if err != nil {
		return agentAnswer{answerOf(err), agentState{revision: namedRevision(err)}}
	}
	return agentAnswer{agentState: agentState{a.Revision, a.SourceRevision, a.Goal, a.Status == countersign.AgentAdmitted, a.Suspended}}
}
