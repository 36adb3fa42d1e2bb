package mask

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestASensitiveFieldIsMaskedInAnyCase: a receiver that reads `PIN` as `pin` is sent it, and
// one that answers so means it.
func TestASensitiveFieldIsMaskedInAnyCase(t *testing.T) {
	h := &Fields{names: namesOf([]string{"pin", "skin.tone"}), capability: &countersign.Capability{Path: "/cards/{PIN}"}}
	for given, want := range map[string]string{
		`{"pin":1,"PIN":2,"Pin":3,"pins":4}`:         `{"PIN":"•••","Pin":"•••","pin":"•••","pins":4}`,
		`{"card":{"PIN":[1]},"list":[{"pIn":null}]}`: `{"card":{"PIN":"•••"},"list":[{"pIn":"•••"}]}`,
		"{\"s\u212ain.tone\":1}":                     `{"sKin.tone":"•••"}`,
	} {
		if got := h.members(countersign.RawValue(given)); !got.Equal(countersign.RawValue(want)) {
			t.Errorf("%s: %s, want %s", given, got.Raw(), want)
		}
	}
	if !h.hidesPath("card.PIN") || h.hidesPath("card.pins") {
		t.Error("a path through a sensitive field")
	}
	r := h.request(&countersign.Request{URL: "https://shop.example/cards/4711"}, h.capability)
	if r.URL != "https://shop.example/cards/{PIN}" {
		t.Errorf("the address: %s", r.URL)
	}
}
