package amount_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/amount"
)

func TestTheFirstNumberIsThatOfTheTitleThenOfTheRulesThenOfTheBudgets(t *testing.T) {
	rule := countersign.ApprovalRule{When: countersign.Condition{Predicate: &countersign.Predicate{VariableID: "order.total"}}}
	all := countersign.Capability{Title: "Refund {name}: {price}", ApprovalRules: []countersign.ApprovalRule{rule}, Budgets: []countersign.Budget{{Count: 1}, {Sum: "fee"}}}
	for _, c := range []struct{ input, field, is string }{
		{`{"name":"7","price":1e2,"order":{"total":3},"fee":4}`, "price", "100"},
		{`{"price":"100","order":{"total":3},"fee":4}`, "order.total", "3"},
		{`{"order":{"total":3,"Total":5},"fee":4}`, "fee", "4"},
		{`{"name":"7","order":{}}`, "", ""},
	} {
		v := countersign.RawValue(c.input)
		input, _ := v.Object()
		field, n, ok := amount.Of(nil, &all, input)
		if field != c.field || ok != (c.field != "") || ok && n.Compare(countersign.ParseNumber(c.is)) != 0 {
			t.Errorf("%s: %s %s, not %s %s", c.input, field, n, c.field, c.is)
		}
	}
}

func TestTheMedianIsExact(t *testing.T) {
	for _, c := range []struct {
		of []string
		is string
	}{
		{[]string{"3"}, "3"},
		{[]string{"30", "-1", "9007199254740993"}, "30"},
		{[]string{"0.1", "0.2"}, "0.15"},
		{[]string{"2", "9007199254740993", "9007199254740992", "1e400"}, "9007199254740992.5"},
		{[]string{"1e5000", "1"}, "1"},
		{[]string{"5", "5.0"}, "5"},
	} {
		var all []countersign.Number
		for _, text := range c.of {
			all = append(all, countersign.ParseNumber(text))
		}
		if got := amount.Median(all).Raw(); got != c.is {
			t.Errorf("the median of %v is %s, not %s", c.of, got, c.is)
		}
	}
}

// TestNumbersArePutIntoEqualParts of 1, 2 or 5 times a power of ten, each into the one that
// begins with it or before.
func TestNumbersArePutIntoEqualParts(t *testing.T) {
	for _, c := range []struct {
		of          []string
		count       int
		first, last string // where the first part begins and the last one ends
	}{
		{[]string{"5"}, 1, "5", "6"},
		{[]string{"0.01", "0.6"}, 60, "0.01", "0.61"},
		{[]string{"-3", "2990", "1e9999"}, 31, "-100", "3000"},
		{[]string{"1000000", "1000001"}, 51, "1000000", "1000001.02"},
	} {
		var all []countersign.Number
		for _, text := range c.of {
			all = append(all, countersign.ParseNumber(text))
		}
		b, ok := amount.BucketsOf(all)
		if !ok || b.Count != c.count || b.From(0).Raw() != c.first || b.From(b.Count).Raw() != c.last {
			t.Errorf("%v: %d parts from %s to %s, not %+v", c.of, b.Count, b.From(0).Raw(), b.From(b.Count).Raw(), c)
		}
		for _, n := range all {
			i := b.Of(n)
			if i < 0 {
				continue
			}
			from, to := countersign.ParseNumber(b.From(i).Raw()), countersign.ParseNumber(b.From(i+1).Raw())
			if i >= b.Count || n.Compare(from) < 0 || n.Compare(to) >= 0 {
				t.Errorf("%s is in part %d, from %s to %s", n, i, from, to)
			}
		}
	}
	if _, ok := amount.BucketsOf([]countersign.Number{countersign.ParseNumber("1e9999")}); ok {
		t.Error("a number that is too large has a part")
	}
}
