package console

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// budgetWord says what a budget bounds, and what comes beyond it.
func budgetWord(b countersign.Budget) string {
	what := strconv.FormatInt(b.Count, 10) + " calls"
	if b.Sum != "" {
		what = b.Most.Raw() + " of " + b.Sum
	}
	beyond := "denied"
	if b.Then == countersign.BudgetAsk {
		beyond = "asks"
	}
	return "at most " + what + " in " + b.Window + ", beyond it " + beyond
}

const budgetHint = `A JSON array, such as [{"count": 20, "window": "24h", "then": "ASK", "reason": "more than usual"}] or, of a number input, [{"sum": "amount", "most": 500, "window": "24h", "then": "DENY", "reason": "a day's limit"}].`

func budgetText(all []countersign.Budget) string {
	if len(all) == 0 {
		return ""
	}
	return pretty(all)
}

// typedBudgets reads the field of that name, an empty one being none.
func (v *pageRequest) typedBudgets() ([]countersign.Budget, error) {
	text := v.form("budgets")
	if safetext.Blank(text) {
		return nil, nil
	}
	var out []countersign.Budget
	if err := exactjson.Decode([]byte(text), &out); err != nil {
		return nil, countersign.Errorf(countersign.CodeInvalidRequest, "budgets: it must be a JSON array of budgets: %s", problemMessage(err))
	}
	return out, nil
}
