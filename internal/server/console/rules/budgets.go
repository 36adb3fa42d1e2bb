package rules

import (
	"html/template"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Functions are the functions of the templates of rules and budgets.
var Functions = template.FuncMap{"budgetWord": budgetWord}

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
	return "at most " + what + " in " + b.Window + "; above that, " + beyond
}

// BudgetForm are the budgets of a capability or an agent as rows of a form.
type BudgetForm struct {
	Rows  []budgetRow
	Wrong string // error of the budgets as a whole
}

// budgetRow is one row: so many calls, or the sum of an input.
type budgetRow struct {
	N                               int
	Sum, Most, Window, Then, Reason string
}

// Field is the name of one of the row's fields.
func (r budgetRow) Field(what string) string { return "budget" + strconv.Itoa(r.N) + what }

// BudgetsOf are the stored or typed ones, followed by an empty row.
func BudgetsOf(s *form.Form, stored []countersign.Budget) BudgetForm {
	f := BudgetForm{Wrong: s.Take("budgets")}
	if s.Again() {
		f.Rows = typedBudgetRows(s.Request)
	} else {
		for _, b := range stored {
			row := budgetRow{Sum: b.Sum, Most: b.Most.Raw(), Window: b.Window, Then: b.Then, Reason: b.Reason}
			if b.Sum == "" {
				row.Most = strconv.FormatInt(b.Count, 10)
			}
			f.Rows = append(f.Rows, row)
		}
	}
	f.Rows = append(f.Rows, budgetRow{})
	for i := range f.Rows {
		f.Rows[i].N = i
	}
	return f
}

// typedBudgetRows are the form's rows that say anything.
func typedBudgetRows(v *web.Request) (rows []budgetRow) {
	for n := range countersign.MaxBudgets + 1 {
		r := budgetRow{N: n}
		r.Sum, r.Most, r.Window, r.Then, r.Reason = v.Form(r.Field("sum")), v.Form(r.Field("most")), v.Form(r.Field("window")), v.Form(r.Field("then")), v.Form(r.Field("reason"))
		if r.Sum != "" || r.Most != "" || r.Window != "" || r.Reason != "" {
			rows = append(rows, r)
		}
	}
	return rows
}

// ShowsBudgets reports a form that has budgets: what it doesn't have stays as it is.
func ShowsBudgets(v *web.Request) bool {
	_, shown := v.R.PostForm["budget0most"]
	return shown
}

// TypedBudgets reads the rows.
func TypedBudgets(v *web.Request) (out []countersign.Budget, wrong error) {
	for _, r := range typedBudgetRows(v) {
		b := countersign.Budget{Sum: r.Sum, Window: r.Window, Then: r.Then, Reason: r.Reason}
		var most countersign.Value
		err := exactjson.Decode([]byte(r.Most), &most)
		if err != nil || most.Kind() != countersign.KindNumber {
			wrong = web.Together(wrong, web.Invalid("budgets", "row %d needs a number of what there may be at most", r.N+1))
			continue
		}
		if b.Most = most; b.Sum == "" {
			if b.Count, err = strconv.ParseInt(r.Most, 10, 64); err != nil || b.Count < 1 {
				wrong = web.Together(wrong, web.Invalid("budgets", "row %d counts calls: it needs a whole number, 1 or more", r.N+1))
			}
			b.Most = countersign.Value{}
		}
		out = append(out, b)
	}
	return out, wrong
}
