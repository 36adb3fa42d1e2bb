package models

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

var drawnTexts = rapid.SampledFrom([]string{"", "a", "Two words", `"quoted"`, "null", "true", "12.50", " x ", "a\nb", "ü <b>"})

func drawScalar(t *rapid.T, kind, label string) countersign.Scalar {
	raw := map[string][]string{
		countersign.TypeNumber: {"0", "-1.50", "1e3", `"12"`}, countersign.TypeBoolean: {"true", "false"}, "": {"1", "true", `"x"`},
	}[kind]
	if raw == nil {
		return countersign.Scalar{Value: countersign.String(drawnTexts.Draw(t, label))}
	}
	return countersign.Scalar{Value: countersign.RawValue(rapid.SampledFrom(append(raw, "null")).Draw(t, label))}
}

// drawCondition draws a condition that rows can say.
func drawCondition(t *rapid.T, kinds map[string]string) countersign.Condition {
	predicate := func() countersign.Condition {
		id := rapid.SampledFrom([]string{"n", "b", "x", "c", "gone"}).Draw(t, "variable")
		p := &countersign.Predicate{Kind: "predicate", VariableID: id, Operator: rapid.SampledFrom([]string{"eq", "gt", "isKnown"}).Draw(t, "operator")}
		if p.Operator != "isKnown" && rapid.Bool().Draw(t, "with") {
			p.Value = drawScalar(t, kinds[id], "value")
		}
		return countersign.Condition{Predicate: p}
	}
	outer, inner := "AND", "OR"
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		return predicate()
	case 1:
		return joined("AND", nil)
	case 2:
		outer, inner = inner, outer
	}
	var parts []countersign.Condition
	for range rapid.IntRange(1, 3).Draw(t, "parts") {
		if rapid.Bool().Draw(t, "one") {
			parts = append(parts, predicate())
		} else {
			parts = append(parts, joined(inner, []countersign.Condition{predicate(), predicate()}))
		}
	}
	return joined(outer, parts)
}

func drawModel(t *rapid.T) countersign.AgentModel {
	doc := EmptyModel()
	doc.ID, doc.Name = "m", "M"
	kinds := map[string]string{"n": countersign.TypeNumber, "b": countersign.TypeBoolean, "x": countersign.TypeText, "c": countersign.TypeChoice}
	for _, id := range []string{"n", "b", "x", "c"} {
		v := countersign.Variable{ID: id, Name: id, Kind: countersign.VariableInput, Type: kinds[id], DefaultValue: drawScalar(t, kinds[id], "default")}
		if id == "c" {
			v.Choices = []string{"a", "Two words", drawnTexts.Draw(t, "choice")}
		}
		doc.Variables = append(doc.Variables, v)
	}
	for i := range 3 {
		doc.States = append(doc.States, countersign.ModelState{ID: "s" + strconv.Itoa(i), Name: drawnTexts.Draw(t, "name"), Meaning: drawnTexts.Draw(t, "meaning"), IsStart: i == 0, IsFinal: i == 2, Position: countersign.Position{X: json.Number("1.50"), Y: json.Number("-2")}})
	}
	doc.Transitions = []countersign.Transition{{ID: "t", FromStateID: "s0", ToStateID: "s2", Priority: 3, Condition: drawCondition(t, kinds), ActionID: "a"}}
	effects := []countersign.MemoryEffect{}
	for _, id := range []string{"n", "gone", "x"} {
		effects = append(effects, countersign.MemoryEffect{VariableID: id, Value: drawScalar(t, kinds[id], "effect")})
	}
	doc.Actions = []countersign.Action{{ID: "a", Name: "A", SimulatedResult: drawnTexts.Draw(t, "result"), Inputs: []string{"x", drawnTexts.Draw(t, "needs")}, MemoryEffects: effects}}
	given := map[string]countersign.Scalar{}
	for _, id := range []string{"n", "b", "x", "c", "gone"} {
		if rapid.Bool().Draw(t, "given") {
			given[id] = drawScalar(t, kinds[id], "input")
		}
	}
	doc.Scenarios = []countersign.Scenario{{ID: "c", Name: "C", Inputs: given, InitialMemory: map[string]countersign.Scalar{}, ExpectedStateID: "s2", ExpectedPath: []string{"s0", drawnTexts.Draw(t, "on the path")}}}
	return doc
}

func formOfModel(doc countersign.AgentModel, at place) *modelForm {
	r := httptest.NewRequest("POST", "/console/models/m/form", nil)
	r.PostForm = url.Values{}
	return &modelForm{modelElement: modelElement{v: &web.Request{R: r}, id: "m", wrong: map[string]string{}, modelDraft: modelDraft{doc: doc, at: at}}}
}

var drawnPlaces = []place{{}, {listStates, 0}, {listStates, 2}, {listTransitions, 0}, {listVariables, 0}, {listVariables, 1}, {listVariables, 2}, {listVariables, 3}, {listActions, 0}, {listScenarios, 0}}

func TestAnElementThatIsOnlyLookedAtStaysAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawModel(t)
		was := canonical(doc)
		s := formOfModel(doc, rapid.SampledFrom(drawnPlaces).Draw(t, "at"))
		s.write()
		s.apply()
		if is := canonical(s.doc); is != was || len(s.wrong) > 0 {
			t.Fatalf("%s\nwas %s\nis  %s\n%v", s.at, was, is, s.wrong)
		}
	})
}

func TestAConditionThatRowsCanNotSayIsKept(t *testing.T) {
	p := countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "n", Operator: "eq", Value: countersign.Scalar{Value: countersign.RawValue("1")}}}
	for name, c := range map[string]countersign.Condition{
		"never":             joined("OR", nil),
		"three levels":      joined("AND", []countersign.Condition{joined("OR", []countersign.Condition{p, joined("AND", []countersign.Condition{p, p})})}),
		"a group of one":    joined("AND", []countersign.Condition{joined("OR", []countersign.Condition{p})}),
		"the same within":   joined("AND", []countersign.Condition{p, joined("AND", []countersign.Condition{p, p})}),
		"an empty one more": joined("AND", []countersign.Condition{p, joined("OR", nil)}),
	} {
		doc := rapidModel(t)
		doc.Transitions[0].Condition = c
		was := canonical(doc)
		s := formOfModel(doc, place{listTransitions, 0})
		s.write()
		s.apply()
		if is := canonical(s.doc); is != was {
			t.Errorf("%s: was %s, is %s", name, was, is)
		}
	}
}

func rapidModel(t *testing.T) countersign.AgentModel {
	t.Helper()
	return rapid.Custom(drawModel).Example(1)
}

func TestAnIDThatAnotherElementHasIsRefused(t *testing.T) {
	for _, id := range []string{"s1", "", "no id"} {
		s := formOfModel(rapidModel(t), place{listStates, 0})
		s.write()
		s.v.R.PostForm.Set("states[0].id", id)
		s.apply()
		if s.wrong["states[0].id"] == "" || s.doc.States[0].ID != "s0" || s.doc.Transitions[0].FromStateID != "s0" {
			t.Errorf("%q is taken", id)
		}
	}
}
