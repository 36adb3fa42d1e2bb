package mcp

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign"
)

// TestAnInputOfSeveralTypesIsAnyOf: model providers refuse a list of types.
func TestAnInputOfSeveralTypesIsAnyOf(t *testing.T) {
	got, err := json.Marshal(fieldSchema(countersign.InputField{Type: "string", OrTypes: []string{"number"}, Description: "who"}))
	if err != nil || string(got) != `{"description":"who","anyOf":[{"type":"string"},{"type":"number"}]}` {
		t.Errorf("%s, %v", got, err)
	}
}
