package run

import (
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

// TestARehearsalIsComparedInEachPartOfTheRequest, one that is added tomorrow too. The fields of
// the query are those of the URL.
func TestARehearsalIsComparedInEachPartOfTheRequest(t *testing.T) {
	var sent countersign.Request
	texts := marked.Fill(&sent)
	var paths []string
	for _, d := range differentRequest(&sent, nil) {
		paths = append(paths, d.Path)
	}
	for _, text := range texts {
		if slices.Contains(paths, text.Path) == (text.Path == "query") {
			t.Errorf("%s: differences in %q", text.Path, paths)
		}
	}
}
