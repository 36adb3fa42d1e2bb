package linearizability

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// TestProjectHistories: a project without runs, under concurrent edits, checks and toggles.
func TestProjectHistories(t *testing.T) {
	codes := []countersign.Code{countersign.CodeRevisionConflict, countersign.CodeNotFound, countersign.CodeHealthCheckRequired, countersign.CodeUnavailable}
	checkAll(t, kind{limit: narrow, parallel: 12, answers: codes, play: func(h *fixture, seed uint64) (porcupine.Model, *history, error) {
		id := tenant + "-" + newID("p")
		played := &history{}
		var last atomic.Int64
		clients(seed, func(client int, rng *rand.Rand) {
			in := drawProjectOp(rng, last.Load())
			ctx, end := hurried(rng)
			defer end()
			out := do(played, client, in, func() projectAnswer { return h.askProject(ctx, id, in) })
			last.Store(out.revision)
		})
		do(played, 0, projectOp{what: "read"}, func() projectAnswer { return h.askProject(background(), id, projectOp{what: "read"}) })
		return projectSpec.model(), played, nil
	}})
}

func drawProjectOp(rng *rand.Rand, seen int64) projectOp {
	in := projectOp{what: pick(rng, "put", "put", "put", "read", "read", "check", "check", "enable", "enable", "disable"), expected: seen}
	if rng.IntN(5) == 0 {
		in.expected = int64(rng.IntN(4))
	}
	if in.what == "put" {
		in.content = strconv.Itoa(rng.IntN(1000))
	}
	return in
}

func (f *fixture) askProject(ctx context.Context, id string, in projectOp) projectAnswer {
	var p countersign.Project
	var err error
	toggle := countersign.Toggle{ExpectedRevision: in.expected}
	switch in.what {
	case "put":
		p, err = f.any().PutProject(ctx, ada, id, shopWrite(in.content, in.expected))
	case "read":
		p, err = f.any().Project(ctx, ada, id)
	case "enable":
		p, err = f.any().EnableProject(ctx, ada, id, toggle)
	case "disable":
		p, err = f.any().DisableProject(ctx, ada, id, toggle)
	case "check":
		var checked countersign.HealthCheck
		if checked, err = f.any().CheckHealth(ctx, ada, id); err == nil {
			return projectAnswer{projectState: projectState{revision: checked.Revision}}
		}
	}
	if err != nil {
		return projectAnswer{answerOf(err), projectState{revision: namedRevision(err)}}
	}
	return projectAnswer{projectState: projectState{p.Revision, p.Name, p.Enabled, p.Health != nil}}
}
