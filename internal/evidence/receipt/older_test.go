package receipt

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReceiptsOfTheReleaseBeforeHold: those in testdata/older were made by it, of runs
// with approvals: one let out, one rejected, one after a reconcile, and one that shows
// a viewer the digests that masking leaves out today.
func TestReceiptsOfTheReleaseBeforeHold(t *testing.T) {
	for name, approved := range map[string]int{"approved": 1, "whole": 1, "rejected": 0, "twice": 2, "masked": 1} {
		file, err := os.ReadFile(filepath.Join("testdata", "older", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		v := Verify(file, nil)
		if !v.OK || v.Approved != approved || v.Unlogged != 0 || v.Masked != (name == "masked") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
