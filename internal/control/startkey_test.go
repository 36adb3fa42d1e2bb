package control_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestKeyFindsItsRunWhateverHappenedSince: before revision, admission, model,
// suspension and the project are looked at.
func TestKeyFindsItsRunWhateverHappenedSince(t *testing.T) { eachWay(t, keyFindsItsRun) }

// eachWay runs a test on a store that nobody else writes to, where a key is looked for in the
// turn to write, and on one that others write to, where it is looked for before.
func eachWay(t *testing.T, test func(t *testing.T, h *fixture, ids []string)) {
	for name, shared := range map[string]bool{"alone": false, "shared": true} {
		t.Run(name, func(t *testing.T) {
			h, ids := crewed(t)
			if shared {
				h.share()
			}
			test(t, h, ids)
		})
	}
}

func keyFindsItsRun(t *testing.T, h *fixture, ids []string) {
	one, err := h.startPing(ids[0], countersign.ModeLive, "k1")
	h.must(err)
	team, err := h.startTeamRun(countersign.ModeLive, "k2")
	h.must(err)
	h.disable("acme-one")
	h.sync(item("a", at(2), modelled("")))
	h.suspendAgent(ids[0])
	_, err = h.service.SuspendTeam(background, as("acme"), "t1", "r")
	h.must(err)
	again, err := h.startPing(ids[0], countersign.ModeLive, "k1")
	if err != nil || !again.Replayed || again.Run.ID != one.Run.ID {
		t.Errorf("agent run: %v, %v", again.Run.ID, err)
	}
	again, err = h.startTeamRun(countersign.ModeLive, "k2")
	if err != nil || !again.Replayed || again.Run.ID != team.Run.ID {
		t.Errorf("team run: %v, %v", again.Run.ID, err)
	}
}

// TestKeyIsOneForAllStarts of a tenant, whatever they start; for another tenant it
// is another key.
func TestKeyIsOneForAllStarts(t *testing.T) { eachWay(t, keyIsOneForAllStarts) }

func keyIsOneForAllStarts(t *testing.T, h *fixture, ids []string) {
	first, err := h.startPing(ids[0], "", "k")
	h.must(err)
	_, err = h.startPing(ids[1], "", "k")
	wantCode(t, err, countersign.CodeIdempotencyConflict)
	_, err = h.startTeamRun("", "k")
	wantCode(t, err, countersign.CodeIdempotencyConflict)
	_, err = h.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: first.Run.PlanID}, "k")
	wantCode(t, err, countersign.CodeIdempotencyConflict)
	out, err := h.service.SyncAgents(background, as("beta"), "beta-one", manifest(item("a")))
	h.must(err)
	_, err = h.service.AdmitAgent(background, as("beta"), out[0].ID, countersign.Admission{Reason: "r"})
	h.must(err)
	got, err := h.service.StartAgentRun(background, as("beta"), out[0].ID, pinging(""), "k")
	if err != nil || got.Replayed {
		t.Errorf("another tenant's: %+v, %v", got, err)
	}
}

func TestSpellingOfTheBodyIsNothingToAKey(t *testing.T) {
	h, ids := crewed(t)
	start := func(level string) (control.Started, error) {
		s := countersign.AgentRunStart{ExpectedRevision: 1, Capability: "note", Inputs: values("text", `"a"`, "level", level)}
		return h.service.StartAgentRun(background, as("acme"), ids[0], s, "k")
	}
	_, err := start("1")
	h.must(err)
	again, err := start("10e-1")
	if err != nil || !again.Replayed {
		t.Errorf("replayed %v, %v", again.Replayed, err)
	}
	_, err = start("1.1")
	wantCode(t, err, countersign.CodeIdempotencyConflict)
}

func TestRefusedStartBurnsNoKey(t *testing.T) { eachWay(t, refusedStartBurnsNoKey) }

func refusedStartBurnsNoKey(t *testing.T, h *fixture, ids []string) {
	h.disable("acme-one")
	_, err := h.startPing(ids[0], countersign.ModeLive, "k")
	wantCode(t, err, countersign.CodeProjectDisabled)
	if n := h.refusals(); n != 1 {
		t.Errorf("%d refusals are recorded", n)
	}
	got, err := h.startPing(ids[0], countersign.ModeDryRun, "k")
	if err != nil || got.Replayed {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestStartsAtOnceWithOneKeyAreOneRun.
func TestStartsAtOnceWithOneKeyAreOneRun(t *testing.T) { eachWay(t, startsAtOnceAreOneRun) }

func startsAtOnceAreOneRun(t *testing.T, h *fixture, _ []string) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	runs, fresh := map[string]bool{}, 0
	for range 8 {
		wait.Go(func() {
			got, err := h.startTeamRun("", "k")
			mu.Lock()
			defer mu.Unlock()
			runs[got.Run.ID] = true
			if err != nil {
				t.Error(err)
			} else if !got.Replayed {
				fresh++
			}
		})
	}
	wait.Wait()
	if len(runs) != 1 || fresh != 1 {
		t.Errorf("runs %v, %d of them new", runs, fresh)
	}
}

// A start that is committed while another one with its key is under way is the one
// that both have started.
func TestStartThatComesSecondFindsTheFirst(t *testing.T) { eachWay(t, secondStartFindsTheFirst) }

func secondStartFindsTheFirst(t *testing.T, h *fixture, ids []string) {
	var first control.Started
	h.store.between = func() {
		var err error
		first, err = h.startPing(ids[0], "", "k")
		h.must(err)
	}
	second, err := h.startPing(ids[0], "", "k")
	if err != nil || !second.Replayed || second.Run.ID != first.Run.ID || first.Replayed {
		t.Errorf("%s, replayed %v, %v, after %s", second.Run.ID, second.Replayed, err, first.Run.ID)
	}
}

// TestStartThatIsRefusedMeanwhileFindsTheFirst: between the look for its key and its turn
// another start takes the key, and the project is disabled. No refusal is recorded.
func TestStartThatIsRefusedMeanwhileFindsTheFirst(t *testing.T) {
	eachWay(t, func(t *testing.T, h *fixture, ids []string) {
		var first control.Started
		h.store.before = func() {
			var err error
			first, err = h.startPing(ids[0], countersign.ModeLive, "k")
			h.must(err)
			h.disable("acme-one")
		}
		second, err := h.startPing(ids[0], countersign.ModeLive, "k")
		if err != nil || !second.Replayed || second.Run.ID != first.Run.ID || first.Replayed {
			t.Errorf("%s, replayed %v, %v, after %s", second.Run.ID, second.Replayed, err, first.Run.ID)
		}
		if n := h.refusals(); n != 0 {
			t.Errorf("%d refusals are recorded", n)
		}
	})
}

// TestAStartInDoubtIsNotSaidToHaveChangedNothing: its commit took effect, its answer was lost, and
// nothing can be written any more.
func TestAStartInDoubtIsNotSaidToHaveChangedNothing(t *testing.T) {
	h, ids := crewed(t)
	h.service = h.on(&doubtful{Store: h.store})
	_, err := h.startPing(ids[0], "", "k")
	wantCode(t, err, countersign.CodeInternal)
}

// doubtful is a store that others write to. It doesn't know what became of its first commit, and
// writes nothing from then on.
type doubtful struct {
	store.Store
	failed bool
}

func (d *doubtful) Update(ctx context.Context, fn func(store.Tx) error) error {
	if d.failed {
		return store.ErrUnavailable
	}
	err := d.Store.Update(ctx, fn)
	if d.failed = err == nil; d.failed {
		err = errors.New("it is not known whether this was written")
	}
	return err
}

// refusals are those in acme's log.
func (f *fixture) refusals() (n int) {
	for _, r := range f.log("acme", 1) {
		if r.Outcome != countersign.AuditDone {
			n++
		}
	}
	return n
}

// TestATenantWhoseStartsRaceForAKeyIsLookedForInItsTurn, for a minute: each such race has all
// functions of a batch run again.
func TestATenantWhoseStartsRaceForAKeyIsLookedForInItsTurn(t *testing.T) {
	h, ids := crewed(t)
	h.share()
	start := func(key string) (refused int64) {
		h.store.before = func() {
			_, err := h.startPing(ids[0], "", key)
			h.must(err)
		}
		before := h.store.updates.Load()
		_, err := h.startPing(ids[0], "", key)
		h.must(err)
		return h.store.updates.Load() - before - 2
	}
	first, second := start("k1"), start("k2")
	h.clock.Add(int64(time.Minute))
	if third := start("k3"); first != 1 || second != 0 || third != 1 {
		t.Errorf("%d, %d and %d were refused by what they had found", first, second, third)
	}
}

// A key whose run lies outside the caller's projects doesn't say which it is.
func TestKeyOfARunOutOfScopeIsJustInUse(t *testing.T) {
	h, ids := crewed(t)
	first, err := h.startPing(ids[0], "", "k")
	h.must(err)
	out, err := h.service.SyncAgents(background, as("acme"), "acme-two", manifest(item("c", modelled("m2"))))
	h.must(err)
	limited := as("acme")
	limited.Projects = []string{"acme-two"}
	_, err = h.service.StartAgentRun(background, limited, out[0].ID, pinging(""), "k")
	wantCode(t, err, countersign.CodeIdempotencyConflict)
	if contains(err, first.Run.ID) {
		t.Errorf("it does: %v", err)
	}
}

// TestACallOverMCPFindsItsRunForADay, from when that run has ended.
func TestACallOverMCPFindsItsRunForADay(t *testing.T) {
	inBubble(t, func() {
		h, ids := crewed(t)
		call := func(words countersign.AgentWords) control.Started {
			s := pinging(countersign.ModeDryRun)
			got, err := h.service.CallAgent(background, as("acme"), ids[0], s, words, 0)
			h.must(err)
			return got
		}
		first := call(countersign.AgentWords{Reason: "a"})
		later(3 * countersign.RepeatedCall)
		if got := call(countersign.AgentWords{Reason: "b"}); got.Run.ID != first.Run.ID {
			t.Errorf("while it goes on it is %s", got.Run.ID)
		}
		h.applied(first.Run.ID, run.Resumed{})
		later(countersign.RepeatedCall - time.Second)
		if got := call(countersign.AgentWords{Reason: "b"}); !got.Replayed || got.Run.ID != first.Run.ID {
			t.Errorf("within a day it is %s, replayed %v", got.Run.ID, got.Replayed)
		}
		later(time.Second)
		second := call(countersign.AgentWords{})
		if second.Replayed || second.Run.ID == first.Run.ID {
			t.Errorf("after a day it is %s", second.Run.ID)
		}
		later(time.Hour)
		if got := call(countersign.AgentWords{}); got.Run.ID != second.Run.ID {
			t.Errorf("then it is %s", got.Run.ID)
		}
	})
}

// TestACallThatIsRepeatedAsItsDayEndsFindsItsRun: whether it is a repeat is decided once, by
// the moment at which it came, however long it waits for its turn to write.
func TestACallThatIsRepeatedAsItsDayEndsFindsItsRun(t *testing.T) {
	for _, mode := range []string{countersign.ModeDryRun, countersign.ModeLive} {
		h := open(t)
		id := h.admitted(item("one"))[0]
		call := func() control.Started {
			start := countersign.AgentRunStart{Mode: mode, Capability: "ping", Expectation: done}
			out, err := h.service.CallAgent(background, as("acme"), id, start, countersign.AgentWords{Task: "t"}, 0)
			h.must(err)
			if r := out.Run; r.PlanID == "" || len(r.Steps) != 1 || r.Mode != mode {
				t.Fatalf("run %s of plan %q, %s with %d steps", r.ID, r.PlanID, r.Mode, len(r.Steps))
			}
			return out
		}
		first := call()
		ends := []run.Event{run.Resumed{}}
		if mode == countersign.ModeLive {
			ends = append(ends, run.Decided{Decision: countersign.ApprovalRejected, Reason: "r", By: "user:ben@acme.example"})
		}
		h.applied(first.Run.ID, ends...)
		h.clock.Store(int64(countersign.RepeatedCall - time.Second))
		h.store.before = func() { h.clock.Store(int64(countersign.RepeatedCall + time.Second)) }
		if again := call(); !again.Replayed || again.Run.ID != first.Run.ID {
			t.Errorf("%s: a call of the last second started %s beside %s", mode, again.Run.ID, first.Run.ID)
		}
		if next := call(); next.Replayed || next.Run.ID == first.Run.ID {
			t.Errorf("%s: a call after its day found %s", mode, next.Run.ID)
		}
	}
}

// TestARepeatWhoseRunGoesAwayMeanwhileStartsNothing: the plan is made only where the look
// before found no run, and no run is made without one.
func TestARepeatWhoseRunGoesAwayMeanwhileStartsNothing(t *testing.T) {
	h, ids := crewed(t)
	_, err := h.startPing(ids[0], countersign.ModeLive, "k")
	h.must(err)
	h.store.before = func() {
		h.must(h.store.Update(background, func(tx store.Tx) error { return records.Claims.Delete(tx, "acme", "k") }))
	}
	before := h.everything("acme", store.Realm)
	_, err = h.startPing(ids[0], countersign.ModeLive, "k")
	wantCode(t, err, countersign.CodeUnavailable)
	if now := h.everything("acme", store.Realm); now == before || len(now) > len(before) {
		t.Error("more is stored, or the key is still there")
	}
	again, err := h.startPing(ids[0], countersign.ModeLive, "k")
	if err != nil || again.Replayed || len(again.Run.Steps) != 1 {
		t.Errorf("again: %+v, %v", again.Run, err)
	}
}

// TestAUsedKeyIsAConflictBeforeWhatIsUnknown: for every kind of start.
func TestAUsedKeyIsAConflictBeforeWhatIsUnknown(t *testing.T) {
	eachWay(t, func(t *testing.T, h *fixture, ids []string) {
		starts := map[string]func(key string) (control.Started, error){
			"plan": func(key string) (control.Started, error) {
				return h.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: "none"}, key)
			},
			"agent": func(key string) (control.Started, error) { return h.startPing("none", "", key) },
			"team": func(key string) (control.Started, error) {
				return h.service.StartTeamRun(background, as("acme"), "none", countersign.TeamRunStart{ExpectedRevision: 1}, key)
			},
			"project": func(key string) (control.Started, error) {
				return h.service.StartProjectRun(background, as("acme"), "acme-none", countersign.ProjectRunStart{Capability: "ping"}, key)
			},
		}
		_, err := h.startPing(ids[0], "", "used")
		h.must(err)
		for kind, start := range starts {
			_, err := start("used")
			if countersign.ErrorCode(err) != countersign.CodeIdempotencyConflict {
				t.Errorf("%s: %v", kind, err)
			}
			_, err = start("free-" + kind)
			if countersign.ErrorCode(err) != countersign.CodeNotFound {
				t.Errorf("%s with a free key: %v", kind, err)
			}
		}
	})
}
