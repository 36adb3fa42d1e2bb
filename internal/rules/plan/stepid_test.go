package plan_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// line is a model that takes these actions one after the other.
func line(actions ...string) *countersign.Model {
	doc := countersign.AgentModel{ID: "line", Name: "Line", SchemaVersion: countersign.ModelSchemaVersion}
	state := func(n int) string { return "s" + strconv.Itoa(n) }
	path := []string{}
	known := map[string]bool{}
	for i := range len(actions) + 1 {
		doc.States = append(doc.States, countersign.ModelState{ID: state(i), IsStart: i == 0, IsFinal: i == len(actions)})
		path = append(path, state(i))
	}
	for i, id := range actions {
		always := countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: countersign.CombinatorAnd}}
		doc.Transitions = append(doc.Transitions, countersign.Transition{ID: "t" + strconv.Itoa(i), FromStateID: state(i), ToStateID: state(i + 1), Condition: always, ActionID: id})
		if !known[id] {
			doc.Actions = append(doc.Actions, countersign.Action{ID: id, Name: id})
			known[id] = true
		}
	}
	doc.Scenarios = []countersign.Scenario{{ID: "all", ExpectedStateID: state(len(actions)), ExpectedPath: path}}
	return &countersign.Model{ID: "line", Revision: 1, Document: doc}
}

func bindAll(actions ...string) countersign.CompileRequest {
	req := countersign.CompileRequest{ScenarioID: "all", ActionBindings: map[string]countersign.ActionBinding{}}
	for _, id := range actions {
		req.ActionBindings[id] = countersign.ActionBinding{ProjectID: "acme-shop", Capability: "read"}
	}
	return req
}

// Step ids are those of the actions; whatever these look like, each is an id,
// and no two are the same.
func TestStepIDsAreRewrittenAndUnique(t *testing.T) {
	long := strings.Repeat("y", 130)
	actions := []string{"x", "x", "x-2", "x", "a b", "a-b", "\u00e9!", "--", "-v1.", "line\nfeed", long, long}
	w, problems, err := plan.Compile(line(actions...), bindAll(actions...))
	if err != nil || problems != nil {
		t.Fatalf("%v %v", problems, err)
	}
	var got []string
	for _, s := range w.Steps {
		got = append(got, s.ID)
		if !countersign.ValidID(s.ID) {
			t.Errorf("%q is no id", s.ID)
		}
	}
	want := []string{"x", "x-2", "x-2-2", "x-3", "a-b", "a-b-2", "action", "action-2", "v1", "line-feed", long[:128], long[:126] + "-2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestScenarioOfMoreThanAHundredActionsIsRefused(t *testing.T) {
	actions := make([]string, 101)
	for i := range actions {
		actions[i] = "x"
	}
	if _, _, err := plan.Compile(line(actions...), bindAll("x")); countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		t.Errorf("%v", err)
	}
	if w, _, err := plan.Compile(line(actions[:100]...), bindAll("x")); err != nil || len(w.Steps) != 100 {
		t.Errorf("%d steps, %v", len(w.Steps), err)
	}
}
