package plan_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func TestPlanWithoutProblemsIsReady(t *testing.T) {
	w := write("", read("look"), bound(refund("pay", "look"), "amount", "look", "total"), bound(refund("again", "pay"), "amount", "look", "total"))
	got := plan.New(w, sources(), nil, origin())
	want := countersign.Plan{
		ID: "plan-1", Status: countersign.PlanReady, Name: "Refund", Mode: countersign.ModeDryRun, ModelID: "refunds", ModelRevision: 2,
		Steps: w.Steps, ValidationErrors: []string{}, PlanDigest: got.PlanDigest, Projects: []countersign.ProjectRef{{ID: "acme-shop", Revision: 3}},
		CreatedBy: "user:ada@example.com", CreatedAt: noon,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(countersign.Value.Equal)); diff != "" {
		t.Error(diff)
	}
}

func TestPlanTakesTheIDThatIsGiven(t *testing.T) {
	w := write("", read("look"))
	w.ID = "mine"
	if p := plan.New(w, sources(), nil, origin()); p.ID != "mine" {
		t.Errorf("id %s", p.ID)
	}
}

// TestEveryProblemIsNamedWithItsPath: each alone, so that none hides another.
func TestEveryProblemIsNamedWithItsPath(t *testing.T) {
	live := countersign.ModeLive
	tests := []struct {
		name   string
		write  countersign.PlanWrite
		change func(*plan.Sources)
		want   []string
	}{
		{"no such model", write("", read("a")), func(s *plan.Sources) { s.Model = nil }, []string{"modelId: there is no model refunds"}},
		{"suspended model", write("", read("a")), func(s *plan.Sources) { s.Model.Suspended = true }, []string{"modelId: model refunds is suspended"}},
		{"other revision", write("", read("a")), func(s *plan.Sources) { s.Model.Revision = 3 }, []string{"modelRevision: model refunds is at revision 3, not 2"}},
		{"no steps", write(""), nil, []string{"steps: there must be at least one"}},
		{"one id twice", write("", read("a"), read("b"), read("a")), nil, []string{"steps[2].id: a is the id of steps[0] already"}},
		{"unknown dependency", write("", read("a"), read("b", "a", "z")), nil, []string{"steps[1].dependsOn[1]: there is no step z"}},
		{"a cycle, and a step behind it", write("", read("a", "b"), read("b", "a"), read("c", "b")), nil, []string{"steps: a, b depend on each other; a plan has no cycle"}},
		{"a step that depends on itself", write("", read("a", "a")), nil, []string{"steps: a depend on each other; a plan has no cycle"}},
		{"no such project", write("", with(read("a"), "acme-none", "read")), nil, []string{"steps[0].projectId: there is no project acme-none"}},
		{"project out of scope", write("", with(read("a"), "acme-vault", "read")), nil, []string{"steps[0].projectId: project acme-vault is outside the projects you may use"}},
		{"disabled project", write(live, with(read("a"), "acme-closed", "read")), nil, []string{"steps[0].projectId: project acme-closed is disabled; a LIVE plan needs it enabled"}},
		{"disabled project, rehearsal", write("", with(read("a"), "acme-closed", "read")), nil, nil},
		{"no such capability", write("", with(read("a"), "acme-shop", "fly")), nil, []string{"steps[0].capability: project acme-shop has no capability fly"}},
		{"binding to no step", write("", read("a"), bound(refund("b", "a"), "amount", "z", "f")), nil, []string{"steps[1].inputBindings.amount.stepId: there is no step z"}},
		{"binding to a step that is no dependency", write("", read("a"), bound(refund("b"), "amount", "a", "f")), nil,
			[]string{"steps[1].inputBindings.amount.stepId: a is no dependency of b; name it in dependsOn"}},
		{"binding to itself", write("", bound(refund("b"), "amount", "b", "f")), nil, []string{"steps[0].inputBindings.amount.stepId: b is no dependency of b; name it in dependsOn"}},
		{"binding through another step", write("", read("a"), read("m", "a"), bound(refund("b", "m"), "amount", "a", "f")), nil, nil},
		{"binding and literal", write("", read("a"), both(bound(refund("b", "a"), "amount", "a", "f"))), nil,
			[]string{"steps[1].inputBindings.amount: amount has a literal input already; keep one of the two"}},
		{"required input missing", write("", without(refund("a"))), nil, []string{"steps[0].input.amount: is required by refund"}},
		{"input of another type", write("", given(refund("a"), "amount", `"5"`)), nil, []string{"steps[0].input.amount: must be number, not string"}},
		{"input that is not declared", write("", given(refund("a"), "tip", "1")), nil, []string{"steps[0].input.tip: refund takes no such input; its inputSchema does not declare it"}},
		{"path value that is no id", write("", given(read("a"), "resourceId", `"../x"`)), nil,
			[]string{"steps[0].input.resourceId: goes to the path, so it must be an id: a letter or digit, then at most 127 letters, digits, dots, underscores and hyphens"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := sources()
			if test.change != nil {
				test.change(&src)
			}
			p := plan.New(test.write, src, nil, origin())
			if test.want == nil {
				test.want = []string{}
			}
			if diff := cmp.Diff(test.want, p.ValidationErrors); diff != "" {
				t.Error(diff)
			}
			if ready := p.Status == countersign.PlanReady; ready != (len(test.want) == 0) {
				t.Errorf("status %s with %d problems", p.Status, len(test.want))
			}
		})
	}
}

func TestAllProblemsAreNamedTogether(t *testing.T) {
	w := write("", without(refund("a")), read("a", "z"))
	got := plan.New(w, sources(), []string{"modelId: states: no start state"}, origin()).ValidationErrors
	want := []string{
		"modelId: states: no start state", "steps[0].input.amount: is required by refund",
		"steps[1].id: a is the id of steps[0] already", "steps[1].dependsOn[0]: there is no step z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A snapshot of a project would show the maker what it may not see.
func TestPlanDoesNotReferToProjectsOutOfScope(t *testing.T) {
	p := plan.New(write("", read("a"), with(read("b"), "acme-vault", "read"), with(read("c"), "acme-none", "read")), sources(), nil, origin())
	if diff := cmp.Diff([]countersign.ProjectRef{{ID: "acme-shop", Revision: 3}}, p.Projects); diff != "" {
		t.Error(diff)
	}
}

func with(s countersign.Step, project, capability string) countersign.Step {
	s.ProjectID, s.Capability = project, capability
	return s
}

func given(s countersign.Step, name, value string) countersign.Step {
	s.Input[name] = countersign.RawValue(value)
	return s
}

func both(s countersign.Step) countersign.Step { return given(s, "amount", "5") }

func without(s countersign.Step) countersign.Step {
	s.Input = nil
	return s
}

// TestAPlanNamesAtMostAHundredProblems: it is stored and shown with them.
func TestAPlanNamesAtMostAHundredProblems(t *testing.T) {
	many := read("a")
	for n := range 5000 {
		many.DependsOn = append(many.DependsOn, fmt.Sprintf("x%d", n))
	}
	got := plan.New(write("", many), sources(), []string{"modelId: wrong"}, origin()).ValidationErrors
	if len(got) != 101 || got[0] != "modelId: wrong" || got[99] != "steps[0].dependsOn[98]: there is no step x98" || got[100] != "and 4901 more" {
		t.Errorf("%d problems, from %q to %q", len(got), got[0], got[len(got)-1])
	}
}
