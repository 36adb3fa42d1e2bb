package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign"
)

// known reports a value other than null. A Scalar that was never set counts as null:
// only documents built in Go have one.
func known(v countersign.Scalar) bool { return !v.IsZero() && !v.IsNull() }

// misfit says why a value does not fit the variable, "" and "" if it does. null is the
// unknown value and fits every type; an unknown type is reported at its declaration.
func (v *variable) misfit(value countersign.Scalar) (code, message string) {
	if !known(value) {
		return "", ""
	}
	kind, wanted := value.Kind(), kindOf(v.Type)
	switch {
	case wanted == countersign.KindAbsent:
		return "", ""
	case kind != wanted:
		return ValueTypeMismatch, fmt.Sprintf("%s is of type %s; variable %s takes type %s or null", rawText(value), kind, quoted(v.ID), wanted)
	case v.Type == countersign.TypeChoice && !v.choices[value.Text()]:
		return ValueNotInChoices, fmt.Sprintf("%s is none of the choices of variable %s: %s", rawText(value), quoted(v.ID), listed(v.Choices))
	default:
		return "", ""
	}
}

// kindOf is the JSON type of a variable's values, KindAbsent for an unknown type.
func kindOf(variableType string) countersign.Kind {
	switch variableType {
	case countersign.TypeNumber:
		return countersign.KindNumber
	case countersign.TypeBoolean:
		return countersign.KindBoolean
	case countersign.TypeText, countersign.TypeChoice:
		return countersign.KindString
	default:
		return countersign.KindAbsent
	}
}

// misfits checks values by variable id, all for variables of one kind. Problems are
// sorted by key, which is their path.
func (i *index) misfits(kind string, given map[string]countersign.Scalar) []countersign.Problem {
	var problems []countersign.Problem
	for _, id := range slices.Sorted(maps.Keys(given)) {
		if code, message := i.misfitOf(id, kind, given[id]); code != "" {
			problems = append(problems, countersign.Problem{Path: id, Code: code, Message: message})
		}
	}
	return problems
}

func (i *index) misfitOf(id, kind string, value countersign.Scalar) (code, message string) {
	v := i.variables[id]
	switch {
	case v == nil:
		return UnknownVariable, fmt.Sprintf("the model has no %s variable %s", kind, quoted(id))
	case v.Kind != kind && kind == countersign.VariableInput:
		return NotInputVariable, fmt.Sprintf("%s is a memory variable; only input variables are given here", quoted(id))
	case v.Kind != kind:
		return NotMemoryVariable, fmt.Sprintf("%s is an input variable; only memory variables are set here", quoted(id))
	default:
		return v.misfit(value)
	}
}
