package exactjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

// realisticModel is a model as a team would keep it, of about 20 KB: a chain of
// states with a condition of some parts on every transition.
func realisticModel(tb testing.TB) []byte {
	const states = 20
	text := func(v string) countersign.Scalar { return countersign.Scalar{Value: countersign.String(v)} }
	m := countersign.AgentModel{
		SchemaVersion: countersign.ModelSchemaVersion, ID: "refund", Name: "Refund of a damaged order", Revision: 1,
		Description: strings.Repeat("Says when an order is refunded, and who is asked. ", 4), UpdatedAt: "2026-01-31T09:30:00Z",
		Agent: countersign.ModelAgent{ID: "clerk", Name: "Refund clerk", Role: "service", Goal: "Refund what was damaged, nothing else"},
		Scope: countersign.ModelScope{AllowedActions: "look up, refund, write", Limits: "up to 500 €", AskUserWhen: "the amount is higher"},
	}
	var path []string
	for i := range states {
		id := fmt.Sprintf("state-%d", i)
		path = append(path, id)
		m.Variables = append(m.Variables, countersign.Variable{ID: fmt.Sprintf("variable-%d", i), Name: "Amount of the order", Kind: countersign.VariableInput,
			Type: countersign.TypeNumber, DefaultValue: countersign.Scalar{Value: countersign.RawValue("12.50")}, Source: "order system", Unit: "EUR"})
		m.States = append(m.States, countersign.ModelState{ID: id, Name: "Waiting for the warehouse", Meaning: "The goods are on their way back", IsStart: i == 0,
			IsFinal: i == states-1, Position: countersign.Position{X: "120.5", Y: json.Number(fmt.Sprint(40 * i))}})
		m.Actions = append(m.Actions, countersign.Action{ID: fmt.Sprintf("action-%d", i), Name: "Refund the order", Description: "Pays back what was paid",
			Inputs: []string{"variable-0", "variable-1"}, SimulatedResult: "refunded", MemoryEffects: []countersign.MemoryEffect{{VariableID: "variable-1", Value: text("yes")}}})
		condition := countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: countersign.CombinatorAnd}}
		for j := range 2 {
			condition.Group.Conditions = append(condition.Group.Conditions, countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate",
				VariableID: fmt.Sprintf("variable-%d", j), Operator: countersign.OpLessOrEqual, Value: countersign.Scalar{Value: countersign.RawValue("500.00")}}})
		}
		m.Transitions = append(m.Transitions, countersign.Transition{ID: fmt.Sprintf("transition-%d", i), Name: "Goods are back", FromStateID: id,
			ToStateID: fmt.Sprintf("state-%d", min(i+1, states-1)), Priority: int64(i), Condition: condition, ActionID: fmt.Sprintf("action-%d", i)})
	}
	m.Scenarios = []countersign.Scenario{{ID: "happy", Name: "All goes well", Inputs: map[string]countersign.Scalar{"variable-0": text("x")},
		InitialMemory: map[string]countersign.Scalar{}, ExpectedStateID: path[states-1], ExpectedPath: path, ExpectedResult: "refunded"}}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func BenchmarkCheckModel(b *testing.B) {
	data := realisticModel(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Check(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJSONTextModel reads the same model as tokens of jsontext, which finds keys that
// an object holds twice too: what Check is measured against.
func BenchmarkJSONTextModel(b *testing.B) {
	data := realisticModel(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		d := jsontext.NewDecoder(bytes.NewBuffer(data))
		for {
			_, err := d.ReadToken()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecodeModel(b *testing.B) {
	data := realisticModel(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var m countersign.AgentModel
		if err := Decode(data, &m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStandardDecodeModel is encoding/json on the same model, which checks
// no key and no tag: what Decode is measured against.
func BenchmarkStandardDecodeModel(b *testing.B) {
	data := realisticModel(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var m countersign.AgentModel
		if err := json.Unmarshal(data, &m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeNestedConditions is one condition of 229 KB, as deep as JSON
// may be, with each kind behind what it is about.
func BenchmarkDecodeNestedConditions(b *testing.B) {
	const levels = countersign.MaxJSONDepth/2 - 1
	leaf := `{"kind":"predicate","variableId":"variable","operator":"eq","value":1},`
	data := []byte(strings.Repeat(`{"combinator":"AND","conditions":[`, levels) +
		strings.TrimSuffix(strings.Repeat(leaf, 229_000/len(leaf)), ",") + strings.Repeat(`],"kind":"group"}`, levels))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var c countersign.Condition
		if err := Decode(data, &c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBudgetCheck: what comes from outside is scanned before it is decoded, at no
// cost that grows with it but for its keys.
func BenchmarkBudgetCheck(b *testing.B) {
	data := realisticModel(b)
	allocbudget.Allocations(b, 15, func() {
		if err := Check(data); err != nil {
			b.Fatal(err)
		}
	})
}
