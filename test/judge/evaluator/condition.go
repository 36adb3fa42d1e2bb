package evaluator

import "strings"

// Condition is a condition as the API writes it: a predicate or a group.
type Condition struct {
	Kind       string      `json:"kind"`
	VariableID string      `json:"variableId,omitempty"`
	Operator   string      `json:"operator,omitempty"`
	Value      any         `json:"value,omitempty"`
	Combinator string      `json:"combinator,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// truth is one of SQL's three values, in their order: AND is the least of its parts, OR the greatest.
type truth int

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (e *Evaluator) holds(c Condition, over map[string]any) truth {
	if c.Kind == "predicate" {
		return e.predicate(c, over)
	}
	and := c.Combinator == "AND"
	if !e.follows("and-or") {
		and = !and
	}
	out := truthOf(and)
	for _, part := range c.Conditions {
		if t := e.holds(part, over); and {
			out = min(out, t)
		} else {
			out = max(out, t)
		}
	}
	return out
}

func (e *Evaluator) predicate(c Condition, over map[string]any) truth {
	v, is := e.at(over, c.VariableID)
	known := is == present && v != nil
	switch c.Operator {
	case "isKnown":
		return truthOf(known == e.follows("is-known"))
	case "isUnknown":
		return truthOf(!known == e.follows("is-unknown"))
	}
	if !known || kind(v) != kind(c.Value) {
		return e.notThere()
	}
	if c.Operator == "eq" || c.Operator == "neq" {
		same := equal(v, c.Value)
		if !e.follows("exact-numbers") && kind(v) == "number" {
			same = rounded(v) == rounded(c.Value)
		}
		if !e.follows("text-case") && kind(v) == "string" {
			same = folded(v.(string)) == folded(c.Value.(string))
		}
		return truthOf(same == ((c.Operator == "eq") == e.follows("eq-neq")))
	}
	return e.ordered(c, v)
}

func (e *Evaluator) notThere() truth {
	if e.follows("absent-is-unknown") {
		return unknown
	}
	return no
}

func (e *Evaluator) ordered(c Condition, v any) truth {
	a, ok := number(v)
	b, ok2 := number(c.Value)
	if !ok || !ok2 {
		return unknown
	}
	order := a.Cmp(b)
	if !e.follows("exact-numbers") {
		order = int(sign(rounded(v) - rounded(c.Value)))
	}
	switch c.Operator {
	case "gt":
		return truthOf(order > 0 || order == 0 && !e.follows("gt"))
	case "gte":
		return truthOf(order > 0 || order == 0 && e.follows("gte"))
	case "lt":
		return truthOf(order < 0 || order == 0 && !e.follows("lt"))
	default:
		return truthOf(order < 0 || order == 0 && e.follows("lte"))
	}
}

func rounded(v any) float64 {
	n, _ := number(v)
	f, _ := n.Float64()
	return f
}

func sign(f float64) float64 {
	switch {
	case f > 0:
		return 1
	case f < 0:
		return -1
	default:
		return 0
	}
}

// presence says what a path found.
type presence int

const (
	absent presence = iota
	present
	ambiguous // several members that a reader may take for the one that is meant, of different values
)

// at follows a dotted path. "A dotted path of a rule, a budget or a title that meets members whose names are
// equal after Unicode simple case folding, and differ in value, is unknown" (12.1).
func (e *Evaluator) at(over map[string]any, path string) (any, presence) {
	var v any = over
	for i, part := range strings.Split(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, absent
		}
		if i > 0 && e.follows("one-meaning") && severalMeanings(object, part) {
			return nil, ambiguous
		}
		if v, ok = object[part]; !ok {
			return nil, absent
		}
	}
	return v, present
}

func severalMeanings(object map[string]any, name string) bool {
	var values []string
	for member, v := range object {
		if folded(member) == folded(name) {
			values = append(values, canonical(v))
		}
	}
	for _, v := range values {
		if v != values[0] {
			return true
		}
	}
	return false
}
