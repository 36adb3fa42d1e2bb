package run_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// TestALiveRunSendsWhatWasRehearsed: of any plan, whatever becomes of its LIVE run,
// each step without bindings has the rehearsed digest, and nothing differs.
func TestALiveRunSendsWhatWasRehearsed(t *testing.T) {
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		p.Mode = countersign.ModeDryRun
		rehearsed := newWorld(t, p).play(run.Resumed{}).run
		if rehearsed.Status != countersign.RunCompleted {
			t.Fatalf("the rehearsal is %s: %s", rehearsed.Status, rehearsed.Error)
		}
		twin := *p
		twin.Mode = countersign.ModeLive
		w := newWorld(t, &twin)
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			_, _ = w.apply(w.drawEvent(t))
		}
		w.bringToAnEnd()
		found := run.Compare(p, w.run, rehearsed)
		if found.Verdict == countersign.RehearsalDifferent {
			t.Fatalf("it differs: %s", dumped(found))
		}
		for i, s := range found.Steps {
			if len(s.Bound) == 0 && s.SentDigest != "" {
				sent++
				if s.RehearsedDigest != s.SentDigest {
					t.Fatalf("step %s: rehearsed %v, sent %v", s.StepID, s.RehearsedDigest, s.SentDigest)
				}
			}
			if (s.Verdict == countersign.RehearsalOpen) != (w.run.Steps[i].Request == nil) {
				t.Fatalf("step %s is %s", s.StepID, s.Verdict)
			}
		}
	})
	if sent == 0 {
		t.Error("no step without bindings was sent")
	}
	t.Logf("%d steps without bindings", sent)
}

// TestADifferenceIsNamed: whatever part of a request isn't the rehearsed one.
func TestADifferenceIsNamed(t *testing.T) {
	refund := countersign.Step{ID: "a", Capability: "refund", DependsOn: []string{}, Input: map[string]countersign.Value{"amount": countersign.String("5")}}
	p := order(t, countersign.ModeDryRun, refund)
	rehearsed := newWorld(t, p).play(run.Resumed{}).run
	twin := *p
	twin.Mode = countersign.ModeLive
	for path, change := range map[string]func(*countersign.StepRun){
		"method": func(s *countersign.StepRun) { s.Request.Method = "PUT" },
		"url":    func(s *countersign.StepRun) { s.Request.URL += "?x=1" },
		"body":   func(s *countersign.StepRun) { s.Request.Body = countersign.RawValue(`{"amount":"6"}`) },
		"input.amount": func(s *countersign.StepRun) {
			s.Input = map[string]countersign.Value{"amount": countersign.String("6")}
		},
		"input.more": func(s *countersign.StepRun) {
			s.Input = map[string]countersign.Value{"amount": countersign.String("5"), "more": countersign.Null}
		},
	} {
		live := newWorld(t, &twin).play(run.Resumed{}).run
		step := live.Steps[0]
		request := *step.Request
		step.Request = &request
		change(&step)
		live.Steps = []countersign.StepRun{step}
		found := run.Compare(p, live, rehearsed)
		if found.Verdict != countersign.RehearsalDifferent || len(found.Steps[0].Differences) != 1 || found.Steps[0].Differences[0].Path != path {
			t.Errorf("%s: %s", path, dumped(found))
		}
	}
}
