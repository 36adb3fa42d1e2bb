package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// costly is a plan of two steps that match a pattern: of a literal, and of what the first
// answers, bound to so many inputs.
func costly(mode, literal string, bound int) *countersign.Plan {
	field := countersign.InputField{Type: "string", Pattern: "[ab]{0,900}c$"}
	names := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	c := countersign.Capability{Name: "re", Method: "POST", Path: "/re", Approval: countersign.ApprovalNone, InputSchema: map[string]countersign.InputField{}}
	for _, name := range names {
		c.InputSchema[name] = field
	}
	p := &countersign.Plan{ID: "plan-1", Mode: mode, PlanDigest: "d", ProjectSnapshots: []countersign.Project{{ID: "p", Revision: 1, Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{c}}}}
	p.Steps = []countersign.Step{
		{ID: "one", ProjectID: "p", Capability: "re", Input: map[string]countersign.Value{"a": countersign.String(literal)}},
		{ID: "two", ProjectID: "p", Capability: "re", DependsOn: []string{"one"}, InputBindings: map[string]countersign.Binding{}},
	}
	for _, name := range names[:bound] {
		p.Steps[1].InputBindings[name] = countersign.Binding{StepID: "one", Field: "text"}
	}
	return p
}

func matching(length int) string { return strings.Repeat("ab", length/2) + "c" }

// drive applies events as the engine does: what can't be judged within them is judged between.
func drive(t *testing.T, env run.Env, r *countersign.Run, e run.Event) (res run.Result, judged []int) {
	t.Helper()
	for range 3 {
		res, err := run.Apply(env, r, e)
		var u *run.UnjudgedError
		if !errors.As(err, &u) {
			if err != nil {
				t.Fatal(err)
			}
			return res, judged
		}
		if res.Run != r || len(res.Changed) > 0 {
			t.Fatal("an event that wasn't judged changed something")
		}
		env.Judged, err = u.Judge(func(before int64) *cost.Meter { return cost.New(t.Context(), cost.Most, before) })
		if err != nil {
			t.Fatal(err)
		}
		for i := range env.Judged {
			judged = append(judged, i)
		}
	}
	t.Fatal("what was judged isn't taken")
	return res, nil
}

func envOf(p *countersign.Plan) run.Env {
	return run.Env{Now: dawn, Plan: p, Taken: run.Taken(cost.New(nil, cost.Most, 0), p, false).Taken, OriginAllowed: func(string) bool { return true },
		Current: plan.CurrentRevisions{{Kind: plan.KindProject, ID: "p"}: {Revision: 1}, {Kind: plan.KindModel}: {}}}
}

// answer drives a run whose first step is answered with a text.
func answer(t *testing.T, p *countersign.Plan, text string) (step countersign.StepRun, judged []int) {
	t.Helper()
	env, r := envOf(p), run.New(p, "run-1", "user:ada@example.com", "k", dawn)
	res, _ := drive(t, env, r, run.Resumed{})
	body := countersign.ObjectValue(map[string]countersign.Value{"text": countersign.String(text)})
	res, judged = drive(t, env, res.Run, run.Returned{Step: 0, Attempt: 1, Outcome: request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: 200}, Body: body}})
	return res.Run.Steps[1], judged
}

// TestWhatCostsLittleIsJudgedWithinTheEvent and the rest before it.
func TestWhatCostsLittleIsJudgedWithinTheEvent(t *testing.T) {
	for _, c := range []struct {
		text   string
		bound  int
		judged bool
		status countersign.StepStatus
	}{
		{matching(20), 1, false, countersign.StepRunning},
		{matching(9_000), 1, true, countersign.StepRunning},
		{matching(9_000), 2, true, countersign.StepFailed},
		{matching(20) + "x", 1, false, countersign.StepFailed},
		{matching(9_000) + "x", 1, true, countersign.StepFailed},
	} {
		step, judged := answer(t, costly(countersign.ModeLive, matching(20), c.bound), c.text)
		if step.Status != c.status || len(judged) > 0 != c.judged {
			t.Errorf("%d characters %d times: %s, judged outside %v; %s", len(c.text), c.bound, step.Status, judged, dumped(step.Error))
		}
		if step.Status == countersign.StepFailed && (step.Error.Code != countersign.CodeNotSent || strings.Contains(step.Error.Message, "abab")) {
			t.Errorf("%s", dumped(step.Error))
		}
	}
}

// TestAStepThatABoundValueMakesTooCostlyIsNotSent: with what the start of its run took for the
// other steps, as one request.
func TestAStepThatABoundValueMakesTooCostlyIsNotSent(t *testing.T) {
	step, _ := answer(t, costly(countersign.ModeLive, matching(2_000), 1), matching(8_000))
	if step.Status != countersign.StepRunning {
		t.Errorf("18 million steps: %s", dumped(step.Error))
	}
	step, _ = answer(t, costly(countersign.ModeLive, matching(4_000), 1), matching(8_000))
	if step.Status != countersign.StepFailed || step.Error.Code != countersign.CodeNotSent || !strings.HasPrefix(step.Error.Message, "steps[1].input.a: judging what was sent takes more than 20 million steps") {
		t.Errorf("22 million steps: %s %s", step.Status, dumped(step.Error))
	}
}

// TestARehearsalIsJudgedAtOnce: all of its steps, and their bound inputs stay open.
func TestARehearsalIsJudgedAtOnce(t *testing.T) {
	p := costly(countersign.ModeDryRun, matching(5_000), 0)
	p.Steps[1].Input = p.Steps[0].Input
	r := run.New(p, "run-1", "user:ada@example.com", "k", dawn)
	res, judged := drive(t, envOf(p), r, run.Resumed{})
	if res.Run.Status != countersign.RunCompleted || len(judged) != 2 {
		t.Errorf("%s, judged outside %v, %s", res.Run.Status, judged, dumped(res.Run.Steps))
	}
}

// TestAJudgementIsOfItsPlanAndOutputsOnly: one that was made of another answer isn't taken.
func TestAJudgementIsOfItsPlanAndOutputsOnly(t *testing.T) {
	p := costly(countersign.ModeLive, matching(20), 1)
	env, r := envOf(p), run.New(p, "run-1", "user:ada@example.com", "k", dawn)
	res, _ := drive(t, env, r, run.Resumed{})
	returned := func(length int) run.Returned {
		body := countersign.ObjectValue(map[string]countersign.Value{"text": countersign.String(matching(length))})
		return run.Returned{Step: 0, Attempt: 1, Outcome: request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: 200}, Body: body}}
	}
	var u *run.UnjudgedError
	if _, err := run.Apply(env, res.Run, returned(9_000)); !errors.As(err, &u) {
		t.Fatal(err)
	}
	judged, err := u.Judge(func(before int64) *cost.Meter { return cost.New(t.Context(), cost.Most, before) })
	if err != nil {
		t.Fatal(err)
	}
	env.Judged = judged
	if _, err := run.Apply(env, res.Run, returned(8_000)); !errors.As(err, &u) {
		t.Errorf("another answer was let out as judged: %v", err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := u.Judge(func(before int64) *cost.Meter { return cost.New(ctx, cost.Most, before) }); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it: %v", err)
	}
}
