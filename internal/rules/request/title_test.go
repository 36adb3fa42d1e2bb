package request

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestATitleNamesNoneOfTwoValues: what some receivers read otherwise than others stands in
// no sentence for people.
func TestATitleNamesNoneOfTwoValues(t *testing.T) {
	c := &countersign.Capability{Title: "Refund {amount} to {customer.name}"}
	for input, want := range map[string]string{
		`{"amount":1.50,"customer":{"name":"Ada"}}`:                                      "Refund 1.50 to Ada",
		`{"amount":1,"customer":{"name":"Ada","Name":"Ada"}}`:                            "Refund 1 to Ada",
		`{"amount":1,"customer":{"name":"Ada","Name":"Eve"}}`:                            "Refund 1 to ",
		`{"amount":1,"customer":{"Name":"Eve"}}`:                                         "Refund 1 to ",
		`{"amount":1,"customer":{"name":"Ada"},"customer.name":"Eve"}`:                   "Refund 1 to ",
		`{"amount":1,"Amount":1000,"customer":{"name":"Ada"},"CUSTOMER":{"name":"Ada"}}`: "Refund  to Ada",
		`{"amount":1,"customer":{"name":null}}`:                                          "Refund 1 to null",
	} {
		if got := TitleOf(nil, c, inputsOf(t, input)); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
