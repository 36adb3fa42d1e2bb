package exactjson

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// model is a document with everything that a careless reader would change.
const model = `{
  "name": "Refund", "id": "refund", "schemaVersion": "1.0.0", "description": "<b>&\u00e9",
  "revision": 1.0, "updatedAt": "yesterday",
  "agent": {"id":"a","name":"","role":"","user":"","goal":"","completionCriteria":""},
  "scope": {"limits":"","allowedActions":"","askUserWhen":""},
  "variables": [{"id":"v","name":"","kind":"input","type":"number","defaultValue":null,"source":"","choices":[],"unit":""}],
  "states": [{"id":"s","name":"","meaning":"","isStart":true,"isFinal":true,"position":{"y":1.50,"x":-0}}],
  "transitions": [{"id":"t","name":"","fromStateId":"s","toStateId":"s","priority":1e0,"actionId":"",
    "condition":{"value":9007199254740993.0,"kind":"predicate","variableId":"v","operator":"eq"}}],
  "actions": [{"id":"x","name":"","description":"","inputs":[],"simulatedResult":"","memoryEffects":[{"variableId":"m","value":1E400}]}],
  "scenarios": [{"id":"c","name":"","description":"","inputs":{"v":null},"initialMemory":{},"expectedStateId":"s","expectedPath":["s"],"expectedResult":""}]
}`

// verbatimModel is what is kept of it: all but the white space between tokens.
var verbatimModel = string(compact([]byte(model)))

func TestModelIsKeptVerbatim(t *testing.T) {
	m := decoded[countersign.AgentModel](t, model)
	got, err := countersign.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != verbatimModel {
		t.Errorf("got  %s\nwant %s", got, verbatimModel)
	}
	for _, kept := range []string{`1E400`, `"value":9007199254740993.0`, `{"y":1.50,"x":-0}`, `"v":null`, `<b>&\u00e9`, `"unit":""`, `"priority":1e0`} {
		if !strings.Contains(string(got), kept) {
			t.Errorf("%s is lost", kept)
		}
	}
	if m.Revision != 1 || m.Transitions[0].Priority != 1 || m.States[0].Position.Y != "1.50" {
		t.Errorf("fields are not read: %+v", m)
	}
}

func TestModelInsideABodyIsKeptVerbatim(t *testing.T) {
	w := decoded[countersign.ModelWrite](t, `{ "expectedRevision": 0, "suspended": false, "document": `+model+` }`)
	got, err := countersign.Marshal(w.Document)
	if err != nil || string(got) != verbatimModel {
		t.Errorf("%v: %s", err, got)
	}
	if w.Suspended.Raw() != "false" {
		t.Errorf("suspended is %q", w.Suspended.Raw())
	}
}

func TestBadModelIsNotKept(t *testing.T) {
	var m countersign.AgentModel
	if err := Decode([]byte(strings.Replace(model, `"revision": 1.0`, `"revision": 0`, 1)), &m); err == nil ||
		err.Error() != "invalid_request: revision: must be a whole number of at least 1, not 0" {
		t.Errorf("got %v", err)
	}
}
