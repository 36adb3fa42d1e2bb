package mask

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestASensitivePathIsMaskedWhereItLeads: below the member that it begins with, at any depth;
// and where it leads into text or a number, that is masked whole, for nothing says what of it
// is meant.
func TestASensitivePathIsMaskedWhereItLeads(t *testing.T) {
	h := &Fields{names: namesOf([]string{"to.iban", "card.holder.name", "list.0.pin"}), capability: &countersign.Capability{}}
	for given, want := range map[string]string{
		`{"to":"DE12","iban":"free","n":{"to":5}}`:               `{"to":"•••","iban":"free","n":{"to":"•••"}}`,
		`{"to":{"iban":"DE12","bic":"X"},"TO":{"x":{"Iban":1}}}`: `{"to":{"iban":"•••","bic":"X"},"TO":{"x":{"Iban":"•••"}}}`,
		`{"to":["DE12",{"iban":"DE12","bic":"X"},[true]]}`:       `{"to":["•••",{"iban":"•••","bic":"X"},["•••"]]}`,
		`{"to":null}`: `{"to":null}`,
		`{"card":{"holder":{"name":"N","city":"C"},"name":"free"}}`:   `{"card":{"holder":{"name":"•••","city":"C"},"name":"free"}}`,
		`{"card":{"holder":"N of C"},"x":{"holder":{"name":"free"}}}`: `{"card":{"holder":"•••"},"x":{"holder":{"name":"free"}}}`,
		`{"list":[{"pin":1,"n":2},{"pin":3}]}`:                        `{"list":[{"pin":"•••","n":2},{"pin":3}]}`,
		`{"card":"4711"}`:                                             `{"card":"•••"}`,
	} {
		if got := h.members(countersign.RawValue(given)); !got.Equal(countersign.RawValue(want)) {
			t.Errorf("%s: %s, want %s", given, got.Raw(), want)
		}
		top, _ := countersign.RawValue(given).Object()
		if got := countersign.ObjectValue(h.input(top)); !got.Equal(countersign.RawValue(want)) {
			t.Errorf("inputs %s: %s, want %s", given, got.Raw(), want)
		}
	}
	for path, want := range map[string]bool{"to.iban": true, "to.iban.x": true, "to": true, "n.to": true, "to.bic": false, "iban": false, "card.holder": true, "card.holder.city": false, "card.city": false} {
		if h.hidesPath(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if !h.mentions(countersign.RawValue(`{"a":[{"to":1}]}`)) || h.mentions(countersign.RawValue(`{"a":[{"iban":1}]}`)) {
		t.Error("what a binding brings along")
	}
}
