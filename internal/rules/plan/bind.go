package plan

import (
	"fmt"
	"maps"

	"github.com/countersign/countersign"
)

// Bind returns a step's inputs: its literal input and, for each binding, the field of
// an earlier step's selected output. outputs has verified outputs only, so nothing
// unverified can reach a request (specification 4, rule 4). The error text is safe to
// show.
func Bind(s *countersign.Step, outputs map[string]Output) (map[string]countersign.Value, error) {
	input := make(map[string]countersign.Value, len(s.Input)+len(s.InputBindings))
	maps.Copy(input, s.Input)
	for _, name := range sortedKeys(s.InputBindings) {
		b := s.InputBindings[name]
		out, ok := outputs[b.StepID]
		if !ok {
			return nil, fmt.Errorf("input %s is bound to step %s, which has no verified output", name, b.StepID)
		}
		v, ok := out.Field(b.Field)
		if !ok {
			return nil, fmt.Errorf("input %s is bound to %s.%s, which the output does not have", name, b.StepID, b.Field)
		}
		input[name] = v
	}
	return input, nil
}

// Output is the selected output of a step and the outputField that selected it.
type Output struct {
	Value       countersign.Value
	OutputField string
}

// Select selects the output of an answer: all of it, or its outputField. ok is false
// if the field is missing, which fails the step.
func Select(body countersign.Value, outputField string) (Output, bool) {
	if outputField == "" {
		return Output{Value: body}, true
	}
	v, ok := body.Lookup(outputField)
	return Output{Value: v, OutputField: outputField}, ok
}

// Field finds a field of the output: an exact key, else a dotted path; and where
// the output is not an object or has no such key, `$` or the outputField's own
// name stands for the whole (contract 5).
func (o Output) Field(name string) (countersign.Value, bool) {
	if v, ok := o.Value.Lookup(name); ok {
		return v, true
	}
	if name == "$" || o.OutputField != "" && name == o.OutputField {
		return o.Value, !o.Value.IsZero()
	}
	return countersign.Value{}, false
}

// Unresolved shows a step's inputs before they are bound: a bound input as
// {"$from": "step.field"} (contract 6).
func Unresolved(s *countersign.Step) map[string]countersign.Value {
	input := make(map[string]countersign.Value, len(s.Input)+len(s.InputBindings))
	maps.Copy(input, s.Input)
	for name, b := range s.InputBindings {
		input[name] = countersign.ObjectValue(map[string]countersign.Value{"$from": countersign.String(b.StepID + "." + b.Field)})
	}
	return input
}
