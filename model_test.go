package countersign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// verbatim is a document that encoding/json would write otherwise: keys out of
// order, digits that a float loses, escapes, empty optional fields.
const verbatim = `{"name":"n","id":"refund","schemaVersion":"1.0.0","description":"\u00e9<b>","revision":1,"updatedAt":"","agent":{"name":"","id":"","role":"","user":"","goal":"","completionCriteria":""},` +
	`"scope":{"limits":"","allowedActions":"","askUserWhen":""},"variables":[{"id":"v","name":"","kind":"input","type":"text","defaultValue":null,"source":"","choices":[],"unit":""}],` +
	`"states":[{"id":"s","name":"","meaning":"","isStart":true,"isFinal":false,"position":{"y":1.50,"x":-0}}],` +
	`"transitions":[{"id":"t","name":"","fromStateId":"s","toStateId":"s","priority":0,"condition":{"value":9007199254740993.0,"operator":"eq","variableId":"v","kind":"predicate"},"actionId":""}],` +
	`"actions":[],"scenarios":[]}`

func TestModelIsWrittenAsItWasRead(t *testing.T) {
	var m countersign.AgentModel
	if err := json.Unmarshal([]byte(verbatim), &m); err != nil {
		t.Fatal(err)
	}
	if m.ID != "refund" || m.States[0].Position.Y != "1.50" || m.Transitions[0].Condition.Predicate.Value.Raw() != "9007199254740993.0" {
		t.Errorf("fields are not read: %+v", m)
	}
	if got, err := countersign.Marshal(m); err != nil || string(got) != verbatim {
		t.Errorf("got %s (%v)", got, err)
	}
}

func TestStoredModelIsReadInEverySpellingOfItsIntegers(t *testing.T) {
	for _, spelled := range []string{"3", "3.0", "3e0", "30e-1", "0.3E+1"} {
		text := strings.Replace(strings.Replace(verbatim, `"revision":1`, `"revision":`+spelled, 1), `"priority":0`, `"priority":`+spelled, 1)
		var m countersign.AgentModel
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Errorf("%s: %v", spelled, err)
			continue
		}
		if m.Revision != 3 || m.Transitions[0].Priority != 3 || m.Transitions[0].ToStateID != "s" {
			t.Errorf("%s: read as %d and %+v", spelled, m.Revision, m.Transitions[0])
		}
		if got, err := countersign.Marshal(m); err != nil || string(got) != text {
			t.Errorf("%s: written as %s (%v)", spelled, got, err)
		}
	}
}

func TestModelStaysVerbatimInsideARecord(t *testing.T) {
	record := countersign.Model{ID: "refund", Revision: 7}
	if err := json.Unmarshal([]byte(verbatim), &record.Document); err != nil {
		t.Fatal(err)
	}
	stored, err := countersign.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(stored), `"document":`+verbatim) {
		t.Errorf("stored as %s", stored)
	}
	var read countersign.Model
	if err := json.Unmarshal(stored, &read); err != nil {
		t.Fatal(err)
	}
	if again, err := countersign.Marshal(read); err != nil || string(again) != string(stored) {
		t.Errorf("got %s (%v)", again, err)
	}
}

func TestModelMadeInGoIsWrittenByItsFields(t *testing.T) {
	m := countersign.AgentModel{SchemaVersion: countersign.ModelSchemaVersion, ID: "made", Revision: 1}
	got, err := countersign.Marshal(m)
	if err != nil || !strings.HasPrefix(string(got), `{"schemaVersion":"1.0.0","id":"made"`) {
		t.Errorf("got %s (%v)", got, err)
	}
	m.KeepVerbatim(countersign.RawValue(`{"id":"kept"}`))
	if got, err := countersign.Marshal(m); err != nil || string(got) != `{"id":"kept"}` {
		t.Errorf("got %s (%v)", got, err)
	}
}

func TestDefaultValueMayBeNull(t *testing.T) {
	var v countersign.Variable
	if err := json.Unmarshal([]byte(`{"id":"v","defaultValue":null}`), &v); err != nil || !v.DefaultValue.IsNull() {
		t.Errorf("got %+v %v", v, err)
	}
}
