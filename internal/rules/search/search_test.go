package search_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/search"
)

func runOf(input, output string) *countersign.Run {
	in, _ := countersign.RawValue(input).Object()
	return &countersign.Run{Steps: []countersign.StepRun{{ID: "pay", ProjectID: "acme-shop", Capability: "refund", Input: in, Output: countersign.RawValue(output)}}}
}

func TestARunIsFoundByWhatPeopleHaveInHand(t *testing.T) {
	r := runOf(`{"orderId":"A-48213","amount":249.00,"note":"for order B-77, (late)","deep":{"list":[{"ref":"Inv  9"}]}}`, `{"refundId":"re_123"}`)
	whole, words := search.Terms(r)
	for _, q := range []string{"a-48213", "249.00", "inv 9", "re_123", "for order b-77, (late)"} {
		if !whole[q] {
			t.Errorf("%q is no term of %v", q, whole)
		}
	}
	if !words["b-77"] || len(words) != 1 {
		t.Errorf("words are %v, want b-77", words)
	}
	for q, where := range map[string]string{"a-48213": "input orderId of step pay", "a-482": "input orderId of step pay", "re_123": "output of step pay", "b-7": "input note of step pay"} {
		if got, ok := search.In(r, q); !ok || got.Where != where || got.Whole != (q == "a-48213" || q == "re_123") {
			t.Errorf("%q: got %+v %v, want %s", q, got, ok, where)
		}
	}
	if _, ok := search.In(r, "48213"); ok {
		t.Error("the middle of a value is found")
	}
}

func TestWhatNobodyTypesIsNoTerm(t *testing.T) {
	for _, text := range []string{"", " ", "x", "•••", "a\x00b", strings.Repeat("y", search.MaxTerm+1)} {
		if got := search.Fold(text); got != "" {
			t.Errorf("%q is folded to %q", text, got)
		}
	}
	many := runOf(`{"list":["`+strings.Join(strings.Split(strings.Repeat("ab cd1234 ", 500), ""), `","`)+`"]}`, "null")
	if whole, words := search.Terms(many); len(whole)+len(words) > search.MaxTerms+1 {
		t.Errorf("%d terms", len(whole)+len(words))
	}
}

func TestTheReasonOfARunIsThatOfItsEnd(t *testing.T) {
	r := &countersign.Run{Status: countersign.RunRecoveryRequired, Error: "outcome_unknown: timeout"}
	if got := search.Reason(r); got != "" {
		t.Errorf("a run that goes on has reason %q", got)
	}
	r.Status = countersign.RunCancelled
	if got := search.Reason(r); got != "outcome_unknown" {
		t.Errorf("got %q", got)
	}
}
