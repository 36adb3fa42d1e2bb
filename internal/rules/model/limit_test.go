package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// counter counts in bits boolean memory cells, one step a number. At the end it
// is in a final state, or wraps to zero and so loops.
func counter(bits int, wraps bool) *countersign.AgentModel {
	doc := &countersign.AgentModel{
		States:    states("count", "full!"),
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "full"}},
	}
	var ones []countersign.Condition
	var zeros []countersign.MemoryEffect
	for i := range bits {
		id := fmt.Sprintf("bit%d", i)
		doc.Variables = append(doc.Variables, memory(id, "boolean", raw("false")))
		carry := append(append([]countersign.Condition{}, ones...), predicate(id, "eq", raw("false")))
		doc.Transitions = append(doc.Transitions, acting(arrow("carry-"+id, "count", "count", and(carry...)), "set-"+id))
		effects := append(append([]countersign.MemoryEffect{}, zeros...), sets(id, raw("true")))
		doc.Actions = append(doc.Actions, action("set-"+id, "", effects...))
		ones = append(ones, predicate(id, "eq", raw("true")))
		zeros = append(zeros, sets(id, raw("false")))
	}
	if wraps {
		doc.Transitions = append(doc.Transitions, acting(arrow("wrap", "count", "count", and(ones...)), "wrap"))
		doc.Actions = append(doc.Actions, action("wrap", "", zeros...))
	} else {
		doc.Transitions = append(doc.Transitions, arrow("end", "count", "full", and(ones...)))
	}
	return doc
}

func TestThereIsNoStepCap(t *testing.T) {
	sim := simulated(t, counter(12, false), nil)
	wantEqual(t, "outcome", sim.Outcome, "final")
	wantEqual(t, "steps", len(sim.Trace), 1<<12)
}

func TestALongLoopIsFoundExactly(t *testing.T) {
	sim := simulated(t, counter(12, true), nil)
	wantEqual(t, "outcome", sim.Outcome, "loop")
	wantEqual(t, "steps", len(sim.Trace), 1<<12)
}

// TestALoopBeginsWhereItIsFirstEntered: from 3 the counter goes on to 7 and then
// only between 6 and 7, so the first point that recurs is 6.
func TestALoopBeginsWhereItIsFirstEntered(t *testing.T) {
	doc := counter(3, true)
	doc.Scenarios[0].InitialMemory = given{"bit0": raw("true"), "bit1": raw("true")}
	last := &doc.Actions[len(doc.Actions)-1]
	last.MemoryEffects = last.MemoryEffects[:1]
	sim := simulated(t, doc, nil)
	wantEqual(t, "outcome", sim.Outcome, "loop")
	wantEqual(t, "steps", len(sim.Trace), 5) // 3 4 5 6 7 6
	wantEqual(t, "values", encoded(t, sim.Values), `{"bit0":false,"bit1":true,"bit2":true}`)
}

func TestBeyondTheLimitASimulationIsRefused(t *testing.T) {
	tests := []struct {
		name  string
		bits  int
		limit model.Limit
	}{
		{"a path that is astronomically long", 60, model.DefaultLimit()},
		{"an answer that is too long", 12, model.Limit{Work: 10_000_000, Bytes: 1 << 20}},
		{"an answer with too many steps", 12, model.Limit{Work: 10_000_000, Bytes: 1 << 10}},
		{"too much work", 12, model.Limit{Work: 5_000, Bytes: 64 << 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, visits, err := compiled(t, counter(tt.bits, false)).Within(tt.limit).Walk("s", nil)
			wantEqual(t, "code", countersign.ErrorCode(err), countersign.CodeInvalidRequest)
			wantEqual(t, "visits", len(visits), 0)
		})
	}
}

func TestVisitsCountForTheLimit(t *testing.T) {
	m := compiled(t, counter(8, false)).Within(model.Limit{Work: 1_000_000, Bytes: 400_000})
	if _, err := m.Simulate("s", nil); err != nil {
		t.Fatalf("Simulate: %v", err)
	}
	for i := range 8 {
		m = compiled(t, withIdle(counter(8, false), 100*i)).Within(model.Limit{Work: 1_000_000, Bytes: 400_000})
	}
	_, _, err := m.Walk("s", nil)
	wantEqual(t, "code", countersign.ErrorCode(err), countersign.CodeInvalidRequest)
}

// withIdle adds variables that do nothing but appear in every visit.
func withIdle(doc *countersign.AgentModel, n int) *countersign.AgentModel {
	for i := range n {
		doc.Variables = append(doc.Variables, input(fmt.Sprintf("idle%d", i), "text", null))
	}
	return doc
}

func TestWithinLeavesTheMachineItself(t *testing.T) {
	m := compiled(t, counter(10, false))
	m.Within(model.Limit{})
	if _, err := m.Simulate("s", nil); err != nil {
		t.Errorf("Simulate: %v", err)
	}
}

// TestBytesAreAboutTheAnswersLength: the estimate that bounds an answer is never
// far from the truth, either way.
func TestBytesAreAboutTheAnswersLength(t *testing.T) {
	doc := counter(10, false)
	length := len(encoded(t, simulated(t, doc, nil)))
	for _, tt := range []struct {
		bytes int
		code  countersign.Code
	}{{length / 2, countersign.CodeInvalidRequest}, {length * 2, ""}} {
		_, err := compiled(t, doc).Within(model.Limit{Work: 10_000_000, Bytes: tt.bytes}).Simulate("s", nil)
		wantEqual(t, fmt.Sprintf("code for %d bytes", tt.bytes), countersign.ErrorCode(err), tt.code)
	}
}

func TestValidateNamesAScenarioThatIsTooLongToJudge(t *testing.T) {
	doc := counter(60, false)
	for i := range 20 { // the others come out of what all scenarios share
		doc.Scenarios = append(doc.Scenarios, countersign.Scenario{ID: fmt.Sprint("s", i), ExpectedStateID: "full"})
	}
	v := model.Validate(doc)
	wantEqual(t, "valid", v.Valid, true)
	wantEqual(t, "scenarios", strings.Count(found(v.Warnings), model.ScenarioTooLong), 21)
}
