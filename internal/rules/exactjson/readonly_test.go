package exactjson

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign"
)

// stamped has fields that the service sets: of its own, and of what it embeds.
type stamped struct {
	Name  string `json:"name"`
	Maker string `json:"maker" readOnly:"true"`
	stamp
}

type stamp struct {
	Place string `json:"place,omitempty"`
	Seal  int64  `json:"seal" readOnly:"true"`
}

// TestReadOnlyFieldIsUnknownFromOutside, whatever its value or letter case, and
// it is not asked for though nothing makes it optional.
func TestReadOnlyFieldIsUnknownFromOutside(t *testing.T) {
	for _, field := range []string{`"maker":"m"`, `"maker":null`, `"maker":""`, `"Maker":"m"`, `"seal":1`, `"SEAL":1`, `"\u0073eal":1`} {
		v := stamped{Maker: "kept"}
		err := Decode([]byte(`{"name":"n",`+field+`}`), &v)
		if countersign.ErrorCode(err) != invalidRequest || v.Maker != "kept" {
			t.Errorf("%s: %v, %+v", field, err, v)
		}
	}
	misfit[stamped](t, `{"name":"n","maker":"m","seal":1}`, invalidRequest,
		"maker: unknown field; known fields are name, place", "seal: unknown field; known fields are name, place")
	if got := decoded[stamped](t, `{"name":"n","place":"p"}`); got.Name != "n" || got.Place != "p" {
		t.Errorf("%+v", got)
	}
}

// Nobody may say which agent carries a plan's step out but the service.
func TestPlanCannotNameAnAgent(t *testing.T) {
	misfit[countersign.PlanWrite](t, `{"name":"n","modelId":"m","modelRevision":1,"steps":[{"id":"s","name":"n","projectId":"p","capability":"c","agentId":"agent-1"}]}`,
		invalidRequest, "steps[0].agentId: unknown field; known fields are id, name, projectId, capability, actionId, input, dependsOn, inputBindings, expectation")
}

// The service itself writes and reads it as any field.
func TestReadOnlyFieldIsStored(t *testing.T) {
	text, err := countersign.Marshal(stamped{Maker: "m", stamp: stamp{Seal: 7}})
	if err != nil {
		t.Fatal(err)
	}
	var back stamped
	if err := json.Unmarshal(text, &back); err != nil || back.Maker != "m" || back.Seal != 7 {
		t.Errorf("%s: %+v, %v", text, back, err)
	}
}
