package linearizability

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// TestStartHistories: plan and agent runs under few keys and different contents, at a limit that is reached, of a project that is
// sometimes disabled. The limit applies to the whole service, so its histories are played one after the other.
func TestStartHistories(t *testing.T) {
	codes := []countersign.Code{countersign.CodeIdempotencyConflict, countersign.CodeCapacity, countersign.CodeProjectDisabled, countersign.CodeUnavailable}
	checkAll(t, kind{limit: narrow, parallel: 1, answers: codes, play: func(h *fixture, seed uint64) (porcupine.Model, *history, error) {
		s := newStarts(h)
		clients(seed, s.act)
		s.ask(background(), 0, startsOp{what: "enable"})
		err := s.settle()
		s.ask(background(), 0, startsOp{what: "look"})
		return startsSpec.model(), &s.history, err
	}})
}

// starts is one history of starts.
type starts struct {
	history
	h      *fixture
	prefix string            // prefix of the history's keys
	plans  map[string]string // plans by content
}

func newStarts(h *fixture) *starts {
	return &starts{h: h, prefix: newID("key") + "-", plans: map[string]string{"live plan": h.plans[pay], "dry plan": h.plans[rehearsal]}}
}

func (s *starts) key(n int) string { return fmt.Sprintf("%s%d", s.prefix, n) }

// act does one thing, mostly starting a run or letting one end.
func (s *starts) act(client int, rng *rand.Rand) {
	ctx, end := hurried(rng)
	defer end()
	switch n := rng.IntN(100); {
	case n < 68:
		content := pick(rng, "live plan", "live plan", "live plan", "live agent", "live agent", "dry plan", "dry agent")
		s.ask(ctx, client, startsOp{what: "start", key: rng.IntN(keys), content: content, live: strings.HasPrefix(content, "live")})
	case n < 76:
		s.ask(ctx, client, startsOp{what: "look"})
	case n < 80:
		s.ask(ctx, client, startsOp{what: "disable"})
	case n < 87:
		s.ask(ctx, client, startsOp{what: "enable"})
	default:
		if held := s.h.receiver.pending(); len(held) > 0 {
			s.h.receiver.release(pick(rng, held...), 1, good())
		}
	}
}

func (s *starts) ask(ctx context.Context, client int, in startsOp) {
	do(&s.history, client, in, func() startsAnswer {
		toggle := countersign.Toggle{ExpectedRevision: 1}
		var err error
		switch in.what {
		case "start":
			return ofStart(s.start(ctx, in))
		case "look":
			return s.look(ctx)
		case "disable":
			_, err = s.h.any().DisableProject(ctx, ada, shop, toggle)
		case "enable":
			_, err = s.h.any().EnableProject(ctx, ada, shop, toggle)
		}
		return startsAnswer{answer: answerOf(err)}
	})
}

func (s *starts) start(ctx context.Context, in startsOp) (control.Started, error) {
	if plan := s.plans[in.content]; plan != "" {
		return s.h.any().StartRun(ctx, ann, countersign.RunStart{PlanID: plan}, s.key(in.key))
	}
	w := countersign.AgentRunStart{ExpectedRevision: 1, Mode: countersign.ModeDryRun, Capability: pay, Expectation: done()}
	if in.live {
		w.Mode = countersign.ModeLive
	}
	return s.h.any().StartAgentRun(ctx, ann, agentID("payer"), w, s.key(in.key))
}

func ofStart(out control.Started, err error) startsAnswer {
	if err != nil {
		return startsAnswer{answer: answerOf(err)}
	}
	a := startsAnswer{run: out.Run.ID, replayed: out.Replayed}
	if !out.Replayed {
		a.status = out.Run.Status
	}
	return a
}

// look reads the statuses of the history's runs from one page: they are the newest.
func (s *starts) look(ctx context.Context) startsAnswer {
	page, err := s.h.any().Runs(ctx, ann, control.List{Limit: keys}, control.RunFilter{})
	if err != nil {
		return startsAnswer{answer: answerOf(err)}
	}
	shown := []rune(strings.Repeat(string(unused), keys))
	for _, r := range page.Items {
		var n int
		if _, err := fmt.Sscanf(r.IdempotencyKey, s.prefix+"%d", &n); err != nil {
			continue // a run of another history
		}
		shown[n] = over
		if r.Status.IsActive() {
			shown[n] = active
		}
	}
	return startsAnswer{shown: string(shown)}
}

// settle lets every run end and records when: after its call was answered or, without a call, after its start, and before the end
// was published.
func (s *starts) settle() error {
	page, err := s.h.any().Runs(background(), ann, control.List{Limit: keys}, control.RunFilter{})
	for _, r := range page.Items {
		var n int
		if _, other := fmt.Sscanf(r.IdempotencyKey, s.prefix+"%d", &n); other != nil || err != nil {
			continue
		}
		err = s.settleRun(r.ID, n)
	}
	return err
}

func (s *starts) settleRun(runID string, key int) error {
	r, err := s.h.await(runID, func(r *countersign.Run) bool { return ended(r) || r.Steps[0].Attempt > 0 })
	if err != nil {
		return err
	}
	call, sent := s.asked(key), r.Steps[0].IdempotencyKey
	if r.Steps[0].Attempt > 0 { // its intent is stored, so the call will arrive
		if err := s.h.receiver.finish(sent, 1); err != nil {
			return err
		}
		call = s.h.receiver.deliveries(sent)[0].answered
	}
	if _, err := s.h.await(runID, ended); err != nil {
		return err
	}
	ret := s.h.ends.of(runID)
	if ret == 0 {
		ret = tick()
	}
	s.record(theService, startsOp{what: "end", key: key}, startsAnswer{}, call, ret)
	return nil
}

// asked is the tick of a key's first use.
func (s *starts) asked(key int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := tick()
	for _, o := range s.ops {
		if in := o.Input.(startsOp); in.what == "start" && in.key == key {
			first = min(first, o.Call)
		}
	}
	return first
}
