package linearizability

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// TestCompareAndSetHistories: models and teams under concurrent writes, reads and suspensions.
func TestCompareAndSetHistories(t *testing.T) {
	codes := []countersign.Code{countersign.CodeRevisionConflict, countersign.CodeNotFound, countersign.CodeUnavailable}
	checkAll(t, kind{limit: narrow, parallel: 12, answers: codes, play: func(h *fixture, seed uint64) (porcupine.Model, *history, error) {
		var r requests = modelRequests{h, newID("m")}
		if seed/2%2 == 0 {
			r = teamRequests{h, newID("t")}
		}
		played := &history{}
		var last atomic.Int64 // the last revision seen by any client
		clients(seed, func(client int, rng *rand.Rand) {
			in := drawRegisterOp(rng, last.Load())
			ctx, end := hurried(rng)
			defer end()
			out := do(played, client, in, func() registerAnswer { return ask(ctx, r, in) })
			last.Store(out.revision)
		})
		do(played, 0, registerOp{what: "read"}, func() registerAnswer { return ask(background(), r, registerOp{what: "read"}) })
		return registerSpec.model(), played, nil
	}})
}

// drawRegisterOp draws an operation; most writes continue from the revision seen.
func drawRegisterOp(rng *rand.Rand, seen int64) registerOp {
	switch n := rng.IntN(100); {
	case n < 55:
		expected := seen
		if rng.IntN(4) == 0 {
			expected = int64(rng.IntN(6))
		}
		return registerOp{what: "put", expected: expected, content: strconv.Itoa(rng.IntN(1000))}
	case n < 75:
		return registerOp{what: "read"}
	case n < 88:
		return registerOp{what: "suspend"}
	default:
		return registerOp{what: "resume"}
	}
}

// requests are the requests of one kind of register.
type requests interface {
	put(ctx context.Context, content string, expected int64) (register, error)
	read(ctx context.Context) (register, error)
	suspend(ctx context.Context) (register, error)
	resume(ctx context.Context) (register, error)
}

func ask(ctx context.Context, r requests, in registerOp) registerAnswer {
	var is register
	var err error
	switch in.what {
	case "put":
		is, err = r.put(ctx, in.content, in.expected)
	case "read":
		is, err = r.read(ctx)
	case "suspend":
		is, err = r.suspend(ctx)
	case "resume":
		is, err = r.resume(ctx)
	}
	if err != nil {
		is = register{revision: namedRevision(err)}
	}
	return registerAnswer{answerOf(err), is}
}

var named = regexp.MustCompile(`is at revision (\d+)`)

// namedRevision is the present revision, which a conflict must name (contract 1).
func namedRevision(err error) int64 {
	found := named.FindStringSubmatch(err.Error())
	if found == nil || !oneOf(err, countersign.CodeRevisionConflict) {
		return 0
	}
	n, _ := strconv.ParseInt(found[1], 10, 64) // never fails for digits
	return n
}

// modelRequests are requests about a model.
type modelRequests struct {
	h  *fixture
	id string
}

func ofModel(m countersign.Model, err error) (register, error) {
	if m.Name != m.Document.Name {
		return register{}, fmt.Errorf("model %s is called %q and its document %q", m.ID, m.Name, m.Document.Name)
	}
	return register{m.Revision, m.Name, m.Suspended}, err
}

func (r modelRequests) put(ctx context.Context, content string, expected int64) (register, error) {
	return ofModel(r.h.any().PutModel(ctx, ada, r.id, modelWrite(r.id, content, expected)))
}

func (r modelRequests) read(ctx context.Context) (register, error) {
	return ofModel(r.h.any().Model(ctx, ada, r.id))
}

func (r modelRequests) suspend(ctx context.Context) (register, error) {
	return ofModel(r.h.any().SuspendModel(ctx, ada, r.id, "a rest"))
}

func (r modelRequests) resume(ctx context.Context) (register, error) {
	return ofModel(r.h.any().ResumeModel(ctx, ada, r.id, "rested"))
}

// teamRequests are requests about a team.
type teamRequests struct {
	h  *fixture
	id string
}

func ofTeam(t countersign.Team, err error) (register, error) {
	return register{t.Revision, t.Name, t.Suspended}, err
}

func (r teamRequests) put(ctx context.Context, content string, expected int64) (register, error) {
	return ofTeam(r.h.any().PutTeam(ctx, ada, r.id, teamWrite(content, expected, pay)))
}

func (r teamRequests) read(ctx context.Context) (register, error) {
	return ofTeam(r.h.any().Team(ctx, ada, r.id))
}

func (r teamRequests) suspend(ctx context.Context) (register, error) {
	return ofTeam(r.h.any().SuspendTeam(ctx, ada, r.id, "a rest"))
}

func (r teamRequests) resume(ctx context.Context) (register, error) {
	return ofTeam(r.h.any().ResumeTeam(ctx, ada, r.id, "rested"))
}
