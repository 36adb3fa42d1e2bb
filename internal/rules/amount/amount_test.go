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
