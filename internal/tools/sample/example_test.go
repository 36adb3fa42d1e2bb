package sample_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/sample"
)

var update = flag.Bool("update", false, "write docs/example anew")

// TestExampleFilesAreTheSampleValues: the files that the README sends by curl equal the values
// of the demo and the tests.
func TestExampleFilesAreTheSampleValues(t *testing.T) {
	files := map[string]any{
		"project.json": sample.ShopProject("http://127.0.0.1:9090", "SHOP_SECRET"),
		"model.json":   countersign.ModelWrite{Document: sample.RefundModel()},
		"compile.json": countersign.CompileRequest{
			ScenarioID: sample.ReturnedInTime, Inputs: map[string]countersign.Scalar{"amount": {Value: countersign.RawValue("249.00")}}, Mode: countersign.ModeDryRun, ActionBindings: sample.Bindings("default-shop"),
		},
	}
	for name, value := range files {
		compact, err := countersign.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Indent(&want, compact, "", "  "); err != nil {
			t.Fatal(err)
		}
		want.WriteByte('\n')
		path := filepath.Join("..", "..", "..", "docs", "example", name)
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is stale: go test ./internal/tools/sample -update", path)
		}
	}
}
