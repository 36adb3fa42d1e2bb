package console

import (
	"testing"

	"github.com/countersign/countersign/internal/server/console/web"
)

// TestEveryPageCanBeParsed: they are parsed when they are first shown, which must
// not be when somebody needs them.
func TestEveryPageCanBeParsed(t *testing.T) {
	all, err := web.ParsePages(templates, functions)
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for name, parsed := range all {
		if _, err := parsed(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
