package models

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/countersign/countersign"
)

// TestInputsOfUnknownVariablesAreShownInOneOrder: they came in the order of a map.
func TestInputsOfUnknownVariablesAreShownInOneOrder(t *testing.T) {
	q := url.Values{}
	for n := range 20 {
		q.Set(inputPrefix+"x"+strconv.Itoa(10+n), "1")
	}
	given, ok := givenIn(q, countersign.AgentModel{})
	if !ok || len(given) != 20 {
		t.Fatalf("%d inputs, %v", len(given), ok)
	}
	for n, in := range given {
		if want := "x" + strconv.Itoa(10+n); in.id != want {
			t.Errorf("input %d is %s, not %s", n, in.id, want)
		}
	}
}
