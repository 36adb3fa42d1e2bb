package gate_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// expected is the gate a second time, as plainly as it can be said: JSON as encoding/json
// reads it, numbers as fractions, truth as yes, no or nil, and every list searched.
func expected(e gate.Edition, c *countersign.Capability, input string) (then string, approvals int, groups []string) {
	var values any
	d := json.NewDecoder(bytes.NewReader([]byte(input)))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		panic(err)
	}
	said := map[string][]countersign.ApprovalRule{}
	for _, r := range c.ApprovalRules {
		switch truth := evaluate(e, r.When, values); {
		case truth == nil:
			said["ASK"] = append(said["ASK"], r)
		case *truth:
			said[r.Then] = append(said[r.Then], r)
		}
	}
	switch {
	case said["DENY"] != nil:
		return "DENY", 0, nil
	case said["ASK"] != nil:
		approvals = 1
		for _, r := range said["ASK"] {
			approvals = max(approvals, int(r.Approvals))
			for _, g := range r.Groups {
				if !slices.Contains(groups, g) {
					groups = append(groups, g)
				}
			}
		}
		slices.Sort(groups)
		return "ASK", approvals, groups
	case said["ALLOW"] != nil, !asksUnruled(e, c):
		return "ALLOW", 0, nil
	default:
		return "ASK", 1, nil
	}
}

func asksUnruled(e gate.Edition, c *countersign.Capability) bool {
	switch {
	case c.Approval == "RISK_BASED" && c.Method != "GET":
		return !c.Idempotent || e >= 3 && len(c.ApprovalRules) > 0
	case c.Approval == "":
		return c.Method != "GET"
	}
	return c.Approval == "ALWAYS"
}

func yes(b bool) *bool { return &b }

func evaluate(e gate.Edition, c countersign.Condition, values any) *bool {
	if c.Predicate != nil {
		return predicate(e, *c.Predicate, values)
	}
	var unknown, somethingTrue, somethingFalse bool
	for _, part := range c.Group.Conditions {
		switch truth := evaluate(e, part, values); {
		case truth == nil:
			unknown = true
		case *truth:
			somethingTrue = true
		default:
			somethingFalse = true
		}
	}
	and := c.Group.Combinator == "AND"
	switch {
	case and && somethingFalse:
		return yes(false)
	case !and && somethingTrue:
		return yes(true)
	case unknown:
		return nil
	default:
		return yes(and)
	}
}

func predicate(e gate.Edition, p countersign.Predicate, values any) *bool {
	found, unclear := everyReading(e, values, strings.Split(p.VariableID, "."))
	if unclear {
		return nil
	}
	for _, other := range found {
		if !alike(found[0], other) {
			return nil
		}
	}
	known := len(found) > 0 && found[0] != nil
	switch {
	case p.Operator == "isKnown":
		return yes(known)
	case p.Operator == "isUnknown":
		return yes(!known)
	case !known:
		return nil
	}
	var constant any
	d := json.NewDecoder(strings.NewReader(p.Value.Raw()))
	d.UseNumber()
	if err := d.Decode(&constant); err != nil {
		panic(err)
	}
	a, aNumber := number(found[0])
	b, bNumber := number(constant)
	if aNumber && bNumber {
		return yes(map[string]bool{
			"eq": a.Cmp(b) == 0, "neq": a.Cmp(b) != 0, "gt": a.Cmp(b) > 0, "gte": a.Cmp(b) >= 0, "lt": a.Cmp(b) < 0, "lte": a.Cmp(b) <= 0,
		}[p.Operator])
	}
	if p.Operator != "eq" && p.Operator != "neq" {
		return nil
	}
	switch of := found[0].(type) {
	case string:
		if with, ok := constant.(string); ok {
			return yes((of == with) == (p.Operator == "eq"))
		}
	case bool:
		if with, ok := constant.(bool); ok {
			return yes((of == with) == (p.Operator == "eq"))
		}
	}
	return nil
}

func number(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(n.String())
	return r, ok
}

func alike(a, b any) bool {
	x, xNumber := number(a)
	y, yNumber := number(b)
	if xNumber && yNumber {
		return x.Cmp(y) == 0
	}
	m, errM := json.Marshal(a)
	n, errN := json.Marshal(b)
	return errM == nil && errN == nil && bytes.Equal(m, n)
}

// everyReading follows a path in each way in which dots may belong to names. From the third
// edition on it is unclear where a member of the name in another case stands, unless it is
// beside the one of that name and has the same value.
func everyReading(e gate.Edition, v any, path []string) (found []any, unclear bool) {
	if len(path) == 0 {
		return []any{v}, false
	}
	for n := 1; n <= len(path); n++ {
		name := strings.Join(path[:n], ".")
		var next []any
		switch of := v.(type) {
		case map[string]any:
			below, ok := of[name]
			for other, is := range of {
				if e >= 3 && strings.EqualFold(other, name) && (!ok || !alike(is, below)) {
					return nil, true
				}
			}
			if ok {
				next = []any{below}
			}
		case []any:
			for i, below := range of {
				if name == big.NewInt(int64(i)).String() {
					next = []any{below}
				}
			}
		}
		for _, below := range next {
			deeper, doubt := everyReading(e, below, path[n:])
			if doubt {
				return nil, true
			}
			found = append(found, deeper...)
		}
	}
	return found, false
}
