package plan_test

import (
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// TestDigestJoinsARehearsalAndItsLiveTwin: id, name, mode, times and maker don't
// count.
func TestDigestJoinsARehearsalAndItsLiveTwin(t *testing.T) {
	rehearsal := plan.New(write(countersign.ModeDryRun, read("a"), refund("b", "a")), sources(), nil, origin())
	w := write(countersign.ModeLive, read("a"), refund("b", "a"))
	w.ID, w.Name = "live", "The real one"
	live := plan.New(w, sources(), nil, plan.Creation{ID: "plan-2", By: "token:t-1", Now: noon.AddDate(0, 0, 1)})
	if rehearsal.PlanDigest != live.PlanDigest || len(live.PlanDigest) != 64 {
		t.Errorf("%s and %s", rehearsal.PlanDigest, live.PlanDigest)
	}
}

func TestDigestIsOfTheContent(t *testing.T) {
	base := func() countersign.PlanWrite { return write("", read("a"), refund("b", "a")) }
	first := plan.New(base(), sources(), nil, origin()).PlanDigest
	changes := map[string]func(*countersign.PlanWrite, *plan.Sources){
		"model":          func(w *countersign.PlanWrite, _ *plan.Sources) { w.ModelID = "other" },
		"model revision": func(w *countersign.PlanWrite, _ *plan.Sources) { w.ModelRevision = 3 },
		"scenario":       func(w *countersign.PlanWrite, _ *plan.Sources) { w.ScenarioID = "s" },
		"inputs":         func(w *countersign.PlanWrite, _ *plan.Sources) { w.PlanningInputs = inputs("days", "3") },
		"a step's input": func(w *countersign.PlanWrite, _ *plan.Sources) { w.Steps[1].Input = inputs("amount", "6") },
		"a step's name":  func(w *countersign.PlanWrite, _ *plan.Sources) { w.Steps[1].Name = "c" },
		"an expectation": func(w *countersign.PlanWrite, _ *plan.Sources) {
			w.Steps[1].Expectation = &countersign.Expectation{Field: "$", Equals: countersign.Null}
		},
		"project revision": func(_ *countersign.PlanWrite, s *plan.Sources) { s.Projects["acme-shop"].Project.Revision = 4 },
	}
	for name, change := range changes {
		w, s := base(), sources()
		change(&w, &s)
		if plan.New(w, s, nil, origin()).PlanDigest == first {
			t.Errorf("another %s gives the same digest", name)
		}
	}
}

func TestSameContentIsToldFromOther(t *testing.T) {
	base := func() countersign.PlanWrite {
		w := write("", read("a"), bound(refund("b", "a"), "amount", "a", "total"))
		w.PlanningInputs = inputs("days", "3")
		return w
	}
	stored := kept(t, plan.New(base(), sources(), nil, origin()))
	tests := []struct {
		name   string
		change func(*countersign.PlanWrite)
		same   bool
	}{
		{"the same again", func(*countersign.PlanWrite) {}, true},
		{"the default mode spelt out", func(w *countersign.PlanWrite) { w.Mode = countersign.ModeDryRun }, true},
		{"a number spelt otherwise", func(w *countersign.PlanWrite) { w.PlanningInputs = inputs("days", "3.0") }, true},
		{"empty lists spelt out", func(w *countersign.PlanWrite) { w.Steps[0].DependsOn = []string{} }, true},
		{"another name", func(w *countersign.PlanWrite) { w.Name = "Other" }, false},
		{"another mode", func(w *countersign.PlanWrite) { w.Mode = countersign.ModeLive }, false},
		{"another step", func(w *countersign.PlanWrite) { w.Steps = w.Steps[:1] }, false},
		{"another revision", func(w *countersign.PlanWrite) { w.ModelRevision = 1 }, false},
	}
	for _, test := range tests {
		w := base()
		test.change(&w)
		if got := plan.SameContent(stored, w); got != test.same {
			t.Errorf("%s: same %v", test.name, got)
		}
	}
}

// None given and an empty object are the same inputs, in whichever a rehearsal,
// its LIVE twin or a repeated post spells them.
func TestNoInputsAreTheSameAsEmptyOnes(t *testing.T) {
	none, empty := write("", read("a")), write("", read("a"))
	empty.PlanningInputs = map[string]countersign.Value{}
	a, b := plan.New(none, sources(), nil, origin()), plan.New(empty, sources(), nil, origin())
	if a.PlanDigest != b.PlanDigest || !plan.SameContent(kept(t, a), empty) || !plan.SameContent(kept(t, b), none) {
		t.Error("they differ")
	}
}

// TestDigestIsOfTheEditionThatAPlanIsJudgedBy: a plan that an earlier release made and one that
// is made now of the same content let out different requests, so neither stands for the other.
func TestDigestIsOfTheEditionThatAPlanIsJudgedBy(t *testing.T) {
	ruled := sources()
	shop := *ruled.Projects["acme-shop"].Project
	shop.Capabilities = slices.Clone(shop.Capabilities)
	for i := range shop.Capabilities {
		shop.Capabilities[i].ApprovalRules = []countersign.ApprovalRule{{When: countersign.Condition{Predicate: &countersign.Predicate{VariableID: "amount", Operator: countersign.OpIsKnown}}, Then: countersign.RuleAsk, Reason: "r"}}
	}
	ruled.Projects["acme-shop"] = plan.Source{Project: &shop, InScope: true}
	now := plan.New(write("", read("a"), refund("b", "a")), ruled, nil, origin())
	before := plan.New(write("", read("a"), refund("b", "a")), sources(), nil, origin()) // of the same revision, and without an edition
	if now.Gate != countersign.Gate || before.Gate != 0 || now.PlanDigest == before.PlanDigest {
		t.Errorf("of edition %d and %d: %s and %s", now.Gate, before.Gate, now.PlanDigest, before.PlanDigest)
	}
}
