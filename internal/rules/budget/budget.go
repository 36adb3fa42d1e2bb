// Package budget decides about budgets: which may be registered, whether a step would
// exceed one, and whether a change widens them. It is pure: what was used of a budget is
// an argument.
package budget

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/inputs"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/rules/verdict"
)

// Check names all that is wrong with budgets. isNumber reports an input whose values can
// be added. Paths are relative to the list: `[1].window`.
func Check(all []countersign.Budget, isNumber func(input string) bool) []countersign.Problem {
	var out []countersign.Problem
	add := func(path, format string, args ...any) {
		out = append(out, countersign.Problem{Path: path, Code: "invalid", Message: fmt.Sprintf(format, args...)})
	}
	if len(all) > countersign.MaxBudgets {
		add("", "there may be %d budgets at most", countersign.MaxBudgets)
	}
	for i, b := range all {
		at := fmt.Sprintf("[%d]", i)
		switch {
		case (b.Count != 0) == (b.Sum != ""):
			add(at, "a budget has either count, or sum and most")
		case b.Count < 0:
			add(at+".count", "it must be 1 or more")
		case b.Count != 0 && !b.Most.IsZero():
			add(at+".most", "it belongs to sum; count says itself how many")
		case b.Sum != "" && !isNumber(b.Sum):
			add(at+".sum", "%s is no input that inputSchema declares as number", b.Sum)
		case b.Sum != "" && !isAmount(b.Most):
			add(at+".most", "it must be a number of 0 or more, with at most %d digits", maxDigits)
		}
		if d := b.Duration(); d < countersign.MinBudgetWindow || d > countersign.MaxBudgetWindow {
			add(at+".window", "it must be a duration of 1s to 720h, such as 24h")
		}
		if b.Then != countersign.BudgetAsk && b.Then != countersign.BudgetDeny {
			add(at+".then", "it must be ASK or DENY")
		}
		if safetext.Blank(b.Reason) {
			add(at+".reason", "say why; it can't be blank")
		}
	}
	return out
}

// maxDigits bounds the digits and the exponent of what is added: sums are exact, and a few
// bytes must not cost megabytes.
const maxDigits = 400

func isAmount(v countersign.Value) bool {
	if v.Kind() != countersign.KindNumber {
		return false
	}
	d, ok := decimalOf(number(v))
	return ok && d.Sign() >= 0
}

func number(v countersign.Value) countersign.Number { return countersign.ParseNumber(v.Raw()) }

// Key names what a budget measures, so that its count outlives changes of its bound.
func Key(b countersign.Budget) string { return b.Sum + "|" + b.Duration().String() }

// Amount is what a step adds to a budget's sum. Beyond: too large or too fine to be added.
type Amount struct {
	Value  Decimal
	Beyond bool
}

// AmountOf is what an input's value adds; a value below 0 makes no room for others.
func AmountOf(v countersign.Value) Amount {
	if v.Kind() != countersign.KindNumber {
		return Amount{}
	}
	d, ok := decimalOf(number(v))
	switch {
	case !ok:
		return Amount{Beyond: true}
	case d.Sign() < 0:
		return Amount{}
	}
	return Amount{Value: d}
}

// Most is what a sum may come to, nil for what can't be added or is none.
func Most(b countersign.Budget) *Decimal {
	if most, ok := decimalOf(number(b.Most)); ok && b.Sum != "" {
		return &most
	}
	return nil
}

// Used is what steps have used of a budget within its window.
type Used struct {
	Budget countersign.Budget
	Most   *Decimal // of the budget; nil: nothing is let out
	Count  int64
	Sum    Decimal
	Beyond int64 // how many of the steps added what is beyond adding
	Own    bool  // the step that is judged is among them: it was sent before
	// Declared: the capability declares the input that is added.
	Declared bool
}

// Read is what reading the inputs for all budgets of a step takes. It is counted where the step
// is judged, whatever its budgets are then: they are judged in the turn that sends it.
func Read(input map[string]countersign.Value) (steps int) {
	for name, v := range input {
		steps += 1 + len(name) + len(v.Raw())
	}
	return steps
}

// Judge says what budgets say of a step with these inputs, nothing of those that it keeps.
func Judge(all []Used, input map[string]countersign.Value) (out []verdict.Verdict) {
	sums := inputs.Of(nil, "", inputs.Folded, input, nil) // see Read
	for _, u := range all {
		switch exceeds, unknown := u.exceededBy(input, sums); {
		case unknown != "": // what isn't known never loosens
			out = append(out, verdict.Verdict{Then: verdict.Ask, Reasons: []string{u.Budget.Reason + " (" + u.Budget.Sum + " " + unknown + ", so its sum is not known)"}})
		case exceeds:
			out = append(out, verdict.Verdict{Then: u.Budget.Then, Code: countersign.CodeDeniedByBudget, Reasons: []string{u.Budget.Reason}})
		}
	}
	return out
}

func (u Used) exceededBy(input map[string]countersign.Value, sums *inputs.Inputs) (exceeds bool, unknown string) {
	if u.Budget.Sum == "" {
		count := u.Count
		if !u.Own {
			count++
		}
		return count > u.Budget.Count, ""
	}
	own, given := input[u.Budget.Sum]
	given = given && own.Kind() == countersign.KindNumber
	unclear := sums.Read(u.Budget.Sum).Unclear
	if given && u.exceededWith(own) {
		return true, ""
	}
	switch {
	case unclear: // the receiver may read another amount
		return false, "can be read in two ways"
	case !given && u.Declared: // an agent's budget is no matter of a capability without the input
		return false, "is not given"
	}
	return false, ""
}

func (u Used) exceededWith(own countersign.Value) bool {
	sum, beyond := u.Sum, u.Beyond > 0
	if !u.Own {
		amount := AmountOf(own)
		sum = sum.Add(amount.Value)
		beyond = beyond || amount.Beyond
	}
	return beyond || u.Most == nil || sum.Cmp(*u.Most) > 0
}

// Weaker reports that budgets let out what those before held back: one of them was
// removed, or widened, and no other bounds the same as strictly.
func Weaker(before, now []countersign.Budget) bool {
	for _, was := range before {
		kept := false
		for _, is := range now {
			kept = kept || asStrict(was, is)
		}
		if !kept {
			return true
		}
	}
	return false
}

// asStrict reports a budget that holds back all that was held back before: no more in no
// shorter a time.
func asStrict(was, is countersign.Budget) bool {
	if was.Sum != is.Sum || is.Duration() < was.Duration() || was.Then == countersign.BudgetDeny && is.Then != was.Then {
		return false
	}
	if was.Sum == "" {
		return is.Count <= was.Count
	}
	return number(is.Most).Compare(number(was.Most)) <= 0
}

// MayAsk reports budgets of which one may ask for an approval.
func MayAsk(all []countersign.Budget) bool {
	for _, b := range all {
		if b.Then == countersign.BudgetAsk || b.Sum != "" { // an amount that isn't known asks too
			return true
		}
	}
	return false
}
