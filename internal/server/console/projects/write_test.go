package projects

import (
	"reflect"
	"testing"

	"github.com/countersign/countersign"
)

// TestAFormKeepsWhatItHasNoFieldFor: what the form doesn't ask for is sent back as it is stored.
func TestAFormKeepsWhatItHasNoFieldFor(t *testing.T) {
	p := countersign.Project{
		Name: "n", Headers: countersign.Headers{"A": "b"}, AnswerKeys: []string{"ed25519:00"}, Settlement: &countersign.Settlement{Path: "/calls"},
	}
	w := projectWriteOf(p)
	if w.Name != p.Name || !reflect.DeepEqual(w.Headers, p.Headers) || !reflect.DeepEqual(w.AnswerKeys, p.AnswerKeys) || !reflect.DeepEqual(w.Settlement, p.Settlement) {
		t.Errorf("%+v", w)
	}
}
