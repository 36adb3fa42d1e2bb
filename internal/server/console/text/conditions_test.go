package text

import (
	"testing"

	"github.com/countersign/countersign"
)

func TestConditionsAreSaidInWords(t *testing.T) {
	is := func(variable, operator, value string) countersign.Condition {
		p := &countersign.Predicate{Kind: "predicate", VariableID: variable, Operator: operator}
		if value != "" {
			p.Value = countersign.Scalar{Value: countersign.RawValue(value)}
		}
		return countersign.Condition{Predicate: p}
	}
	group := func(combinator string, parts ...countersign.Condition) countersign.Condition {
		return countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: combinator, Conditions: parts}}
	}
	a, b, c := is("a", "eq", "1"), is("b", "eq", "2"), is("c", "eq", "3")
	for want, given := range map[string]countersign.Condition{
		`tier is "gold"`:                          is("tier", "eq", `"gold"`),
		`tier is not "gold"`:                      is("tier", "neq", `"gold"`),
		`amount > 249.00`:                         is("amount", "gt", "249.00"),
		`amount ≥ 1e2`:                            is("amount", "gte", "1e2"),
		`amount < -0.5`:                           is("amount", "lt", "-0.5"),
		`amount ≤ 100`:                            is("amount", "lte", "100"),
		`paid is true`:                            is("paid", "eq", "true"),
		`paid is null`:                            is("paid", "eq", "null"),
		`paid is unknown`:                         is("paid", "isUnknown", ""),
		`paid is known`:                           is("paid", "isKnown", "7"), // a value that counts for nothing
		`paid like "x"`:                           is("paid", "like", `"x"`),  // a document that never passed the shape check
		"always":                                  group("AND"),
		"never":                                   group("OR"),
		"a is 1":                                  group("OR", group("AND", a)),
		`amount > 100 and tier is "gold"`:         group("AND", is("amount", "gt", "100"), is("tier", "eq", `"gold"`)),
		"a is 1 or b is 2":                        group("OR", a, b),
		"a is 1 and b is 2 and c is 3":            group("AND", a, group("AND", b, c)),
		"a is 1 and (b is 2 or c is 3)":           group("AND", a, group("OR", b, c)),
		"(a is 1 and b is 2) or c is 3":           group("OR", group("AND", a, b), c),
		"a is 1 and never":                        group("AND", a, group("OR")),
		"a is 1 or b is 2 or (b is 2 and a is 1)": group("OR", group("OR", a, b), group("AND", b, group("OR", a))),
	} {
		if got := ConditionWords(given); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := ConditionWords(countersign.Condition{}); got != Always {
		t.Errorf("nothing to hold is %s", got)
	}
}
