package budget_test

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/verdict"
)

func sum(most, window, then string) countersign.Budget {
	return countersign.Budget{Sum: "amount", Most: countersign.RawValue(most), Window: window, Then: then, Reason: "r"}
}

func count(n int64, window, then string) countersign.Budget {
	return countersign.Budget{Count: n, Window: window, Then: then, Reason: "r"}
}

func amounts(text string) map[string]countersign.Value {
	return map[string]countersign.Value{"amount": countersign.RawValue(text)}
}

func TestSumsAreExact(t *testing.T) {
	tenth := budget.ParseDecimal("0.1")
	b := sum("0.3", "1h", "DENY")
	used := budget.Used{Budget: b, Most: budget.Most(b), Count: 1, Sum: tenth, Declared: true}
	for text, exceeds := range map[string]bool{"0.2": false, "2e-1": false, "0.20000000000000000000000000000000000000001": true, "1e999999999": true, "1e-999999999": true, "-7": false, "0": false} {
		if got := budget.Judge([]budget.Used{used}, amounts(text)); (len(got) == 1 && got[0].Then == verdict.Deny) != exceeds {
			t.Errorf("0.1 and %s of 0.3 come to %v", text, got)
		}
	}
}

func TestWhatIsNotKnownAsks(t *testing.T) {
	used := budget.Used{Budget: sum("1", "1h", "DENY"), Declared: true}
	if got := budget.Judge([]budget.Used{used}, nil); len(got) != 1 || got[0].Then != verdict.Ask {
		t.Errorf("a step without the amount: %v", got)
	}
	used.Declared = false // an agent's budget, and a capability without that input
	if got := budget.Judge([]budget.Used{used}, nil); len(got) != 0 {
		t.Errorf("a step of a capability without the input: %v", got)
	}
}

// TestAnAmountThatCanBeReadInTwoWaysIsNotKnown: a receiver that doesn't tell case apart may
// read the other one. What exceeds the budget by its own name stays denied.
func TestAnAmountThatCanBeReadInTwoWaysIsNotKnown(t *testing.T) {
	b := sum("10", "1h", "DENY")
	b.Sum = "kilos"
	for input, then := range map[string]string{
		`{"kilos":1}`:             "",
		`{"kilos":11}`:            verdict.Deny,
		`{"kilos":1,"Kilos":11}`:  verdict.Ask,
		`{"kilos":1,"Kilos":2}`:   verdict.Ask,
		`{"kilos":1,"KILOS":1.0}`: "",
		`{"kilos":11,"Kilos":1}`:  verdict.Deny,
		`{"Kilos":1}`:             verdict.Ask,
	} {
		given, _ := countersign.RawValue(input).Object()
		for _, declared := range []bool{true, false} {
			got, said := budget.Judge([]budget.Used{{Budget: b, Most: budget.Most(b), Declared: declared}}, given), ""
			if len(got) == 1 {
				said = got[0].Then
			}
			if said != then {
				t.Errorf("%s: %v, want %q", input, got, then)
			}
		}
	}
}

func TestAStepThatWasCountedIsNotCountedAgain(t *testing.T) {
	used := budget.Used{Budget: count(2, "1h", "DENY"), Count: 2}
	if got := budget.Judge([]budget.Used{used}, nil); len(got) != 1 {
		t.Errorf("a third step: %v", got)
	}
	used.Own = true
	if got := budget.Judge([]budget.Used{used}, nil); len(got) != 0 {
		t.Errorf("one of the two, again: %v", got)
	}
}

// TestWhatIsNotWeakerHoldsBackAllThatWasHeldBack: tried on random use.
func TestWhatIsNotWeakerHoldsBackAllThatWasHeldBack(t *testing.T) {
	draw := func(t *rapid.T, name string) countersign.Budget {
		window := fmt.Sprintf("%dh", rapid.IntRange(1, 3).Draw(t, name))
		then := rapid.SampledFrom([]string{"ASK", "DENY"}).Draw(t, name)
		if n := int64(rapid.IntRange(1, 4).Draw(t, name)); rapid.Bool().Draw(t, name) {
			return count(n, window, then)
		}
		return sum(fmt.Sprint(rapid.IntRange(1, 4).Draw(t, name)), window, then)
	}
	severity := map[string]int{verdict.Allow: 0, verdict.Ask: 1, verdict.Deny: 2}
	rapid.Check(t, func(t *rapid.T) {
		before, now := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) countersign.Budget { return draw(t, "was") }), 0, 3).Draw(t, "before"),
			rapid.SliceOfN(rapid.Custom(func(t *rapid.T) countersign.Budget { return draw(t, "is") }), 0, 3).Draw(t, "now")
		if budget.Weaker(before, before) {
			t.Fatalf("%v is weaker than itself", before)
		}
		if budget.Weaker(before, now) {
			return
		}
		spent := rapid.SliceOfN(rapid.IntRange(0, 3), 3, 3).Draw(t, "steps in each hour") // the newest first, each of 1
		said := func(all []countersign.Budget) string {
			var used []budget.Used
			for _, b := range all {
				n := 0
				for hour := range int(b.Duration().Hours()) {
					n += spent[hour]
				}
				used = append(used, budget.Used{Budget: b, Most: budget.Most(b), Count: int64(n), Sum: budget.ParseDecimal(strconv.Itoa(n)), Declared: true})
			}
			return verdict.Severest(budget.Judge(used, amounts("1"))...).Then
		}
		if severity[said(now)] < severity[said(before)] {
			t.Fatalf("%v said %s, %v says %s, and is not said to be weaker", before, said(before), now, said(now))
		}
	})
}
