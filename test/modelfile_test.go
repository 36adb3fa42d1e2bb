package test

import (
	"bytes"
	encoding "encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// brokenModels are the sample model and models with errors.
func brokenModels() map[string]doc {
	whole := harness.Model("m")
	more := func(list string, item doc) doc {
		return harness.With(whole, list, append(append([]any{}, whole[list].([]any)...), item))
	}
	return map[string]doc{
		"whole":              whole,
		"dangling target":    harness.With(whole, "transitions.0.toStateId", "nowhere"),
		"dangling action":    harness.With(whole, "transitions.0.actionId", "nothing"),
		"dangling variable":  harness.With(whole, "transitions.0.condition.variableId", "nothing"),
		"no start":           harness.With(whole, "states.0.isStart", false),
		"two starts":         harness.With(whole, "states.1.isStart", true),
		"duplicate state":    harness.With(whole, "states.1.id", "start"),
		"leaves a final":     harness.With(whole, "transitions.0.fromStateId", "paid"),
		"value unfit":        harness.With(whole, "transitions.0.condition.value", "ten"),
		"scenario key":       harness.With(whole, "scenarios.0.inputs.unknown", 1),
		"compares with null": harness.With(whole, "transitions.0.condition.value", nil),
		"dead end":           harness.With(whole, "states.2.isFinal", false),
		"never taken":        more("transitions", harness.Transition("late", "start", "paid", 9, harness.Group("AND"), "")),
		"unmet":              harness.With(whole, "scenarios.0.expectedResult", "<b>something & else</b>"),
		"loops":              more("transitions", harness.Transition("again", "review", "start", -0, harness.Group("AND"), "")),
		"a second scenario":  more("scenarios", harness.Scenario("none", doc{"amount": 0}, "rejected", []any{"start", "rejected"}, "")),
	}
}

// shownAsJSON is a command's output without white space.
func shownAsJSON(t *testing.T, status int, args ...string) string {
	t.Helper()
	r := harness.Run(t, nil, append(args, "-o", "json")...)
	var b bytes.Buffer
	if err := encoding.Compact(&b, []byte(r.Out)); err != nil || r.Status != status || r.Err != "" {
		t.Fatalf("%v: status %d, expected %d; %v\n%s%s", args, r.Status, status, err, r.Out, r.Err)
	}
	return b.String()
}

// modelFile writes a model in the form of a PUT, or the bare document.
func modelFile(t *testing.T, model any) string {
	t.Helper()
	text, err := encoding.Marshal(model)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestModelFilesAreJudgedAsTheServiceJudgesThem(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	revision := 0
	for name, model := range brokenModels() {
		operator.Put("/models/m", doc{"document": model, "expectedRevision": revision}).OK(t)
		revision++
		file := modelFile(t, model)
		v := operator.Post("/models/m/validate", nil)
		valid := v.OK(t).At("valid").String() == "true"
		status := 1
		if valid {
			status = 0
		}
		if got := shownAsJSON(t, status, "models", "validate", file); got != v.Raw {
			t.Errorf("%s is validated differently:\n%s\n%s", name, got, v.Raw)
		}
		sim := operator.Post("/models/m/simulate", doc{"scenarioId": "small", "inputs": doc{"amount": 3}})
		if !valid {
			message := sim.Refused(t, "model_invalid")
			if r := harness.Run(t, nil, "models", "simulate", file); r.Status != 1 || r.Out != "" || r.Err != "countersign: "+file+": model_invalid: "+message+"\n" {
				t.Errorf("%s: status %d, %s", name, r.Status, r.Err)
			}
			continue
		}
		if status = 1; sim.OK(t).At("passed").String() == "true" {
			status = 0
		}
		if got := shownAsJSON(t, status, "models", "simulate", file, "--scenario", "small", "--input", "amount=3"); got != sim.Raw {
			t.Errorf("%s is simulated differently:\n%s\n%s", name, got, sim.Raw)
		}
	}
}

func TestModelFileOfTheWrongShapeIsRefusedInTheServicesWords(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	for name, model := range map[string]any{
		"missing field": harness.Without(harness.Model("m"), "states"),
		"unknown field": harness.With(harness.Model("m"), "statez", 1),
		"wrong type":    harness.With(harness.Model("m"), "revision", "one"),
	} {
		body := doc{"document": model}
		message := operator.Put("/models/m", body).Refused(t, "invalid_request")
		file := modelFile(t, body)
		if r := harness.Run(t, nil, "models", "validate", file); r.Status != 2 || r.Err != "countersign: "+file+": invalid_request: "+message+"\n" {
			t.Errorf("%s: status %d, %s", name, r.Status, r.Err)
		}
	}
}
