package budget_test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
)

// TestABudgetThatCanMeanNothingIsRefusedInWords reads each message.
func TestABudgetThatCanMeanNothingIsRefusedInWords(t *testing.T) {
	with := func(b countersign.Budget, change func(*countersign.Budget)) []countersign.Budget {
		change(&b)
		return []countersign.Budget{b}
	}
	counted, summed := count(1, "1h", "ASK"), sum("1", "1h", "ASK")
	many := make([]countersign.Budget, countersign.MaxBudgets+1)
	for i := range many {
		many[i] = counted
	}
	for _, test := range []struct {
		budgets []countersign.Budget
		want    string
	}{
		{many, fmt.Sprintf(": there may be %d budgets at most", countersign.MaxBudgets)},
		{with(counted, func(b *countersign.Budget) { b.Count = 0 }), "[0]: a budget has either count, or sum and most"},
		{with(summed, func(b *countersign.Budget) { b.Count = 1 }), "[0]: a budget has either count, or sum and most"},
		{with(counted, func(b *countersign.Budget) { b.Count = -1 }), "[0].count: it must be 1 or more"},
		{with(counted, func(b *countersign.Budget) { b.Most = summed.Most }), "[0].most: it belongs to sum; count says itself how many"},
		{with(summed, func(b *countersign.Budget) { b.Sum = "currency" }), "[0].sum: currency is no input that inputSchema declares as number"},
		{with(summed, func(b *countersign.Budget) { b.Most = countersign.RawValue("-1") }), "[0].most: it must be a number of 0 or more, with at most 400 digits"},
		{with(counted, func(b *countersign.Budget) { b.Window = "721h" }), "[0].window: it must be a duration of 1s to 720h, such as 24h"},
		{with(counted, func(b *countersign.Budget) { b.Then = "ALLOW" }), "[0].then: it must be ASK or DENY"},
		{with(counted, func(b *countersign.Budget) { b.Reason = " " }), "[0].reason: say why; it can't be blank"},
	} {
		got := budget.Check(test.budgets, func(input string) bool { return input == "amount" })
		if len(got) != 1 || got[0].Path+": "+got[0].Message != test.want {
			t.Errorf("%v\nnot %s", got, test.want)
		}
	}
}
