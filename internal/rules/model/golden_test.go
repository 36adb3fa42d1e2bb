package model_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/testing/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// wantGolden compares with a recorded answer; a change of it is reviewed as a
// diff.
func wantGolden(t *testing.T, name string, v any) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(encoded(t, v)), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	file := filepath.Join("testdata", "refund", name+".golden.json")
	golden.Want(t, file, got.String(), *update)
}

func TestRefundModel(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "refund", "model.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc := parsed(t, b)
	wantGolden(t, "validation", model.Validate(doc))
	m := compiled(t, doc)
	wantGolden(t, "exploration", model.Explore(m, 100_000))
	for _, s := range doc.Scenarios {
		t.Run(s.ID, func(t *testing.T) {
			sim, visits, err := m.Walk(s.ID, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantGolden(t, "scenario-"+s.ID, struct {
				Simulation any `json:"simulation"`
				Visits     any `json:"visits"`
			}{sim, visits})
		})
	}
}
