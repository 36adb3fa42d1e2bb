package countersign

import "encoding/json"

// Combinators of a ConditionGroup.
const (
	CombinatorAnd = "AND"
	CombinatorOr  = "OR"
)

// Condition guards a transition: exactly one of Predicate and Group is set
// (specification 2.2). In JSON it is the one or the other, told apart by kind.
type Condition struct {
	Predicate *Predicate
	Group     *ConditionGroup
}

// Predicate compares one variable with a value.
type Predicate struct {
	Kind       string `json:"kind" enum:"predicate"`
	VariableID string `json:"variableId"`
	Operator   string `json:"operator" enum:"eq,neq,gt,gte,lt,lte,isUnknown,isKnown"`
	Value      Scalar `json:"value,omitzero" doc:"what the variable is compared with"`
}

// ConditionGroup joins conditions with AND or OR, nested as deep as JSON may be.
type ConditionGroup struct {
	Kind       string      `json:"kind" enum:"group"`
	Combinator string      `json:"combinator" enum:"AND,OR"`
	Conditions []Condition `json:"conditions" nullable:"false"`
}

// Variant names the member of the union that a `kind` stands for and returns
// where to decode it. An unknown kind returns nil.
func (c *Condition) Variant(kind string) any {
	switch kind {
	case "predicate":
		*c = Condition{Predicate: &Predicate{}}
		return c.Predicate
	case "group":
		*c = Condition{Group: &ConditionGroup{}}
		return c.Group
	default:
		return nil
	}
}

// MarshalJSON writes the member that is set.
func (c Condition) MarshalJSON() ([]byte, error) {
	if c.Group != nil {
		return Marshal(c.Group)
	}
	return Marshal(c.Predicate)
}

// UnmarshalJSON reads stored conditions; what comes from outside is decoded by
// internal/rules/exactjson, which reports every problem with its path.
func (c *Condition) UnmarshalJSON(b []byte) error {
	var n conditionNode
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	return n.into(c)
}

// conditionNode has the fields of both kinds and no methods, so that a nested
// condition is read in one pass and not once for each level.
type conditionNode struct {
	Kind       string          `json:"kind"`
	VariableID string          `json:"variableId"`
	Operator   string          `json:"operator"`
	Value      Scalar          `json:"value"`
	Combinator string          `json:"combinator"`
	Conditions []conditionNode `json:"conditions"`
}

func (n *conditionNode) into(c *Condition) error {
	switch n.Kind {
	case "predicate":
		*c = Condition{Predicate: &Predicate{Kind: n.Kind, VariableID: n.VariableID, Operator: n.Operator, Value: n.Value}}
		return nil
	case "group":
		*c = Condition{Group: &ConditionGroup{Kind: n.Kind, Combinator: n.Combinator, Conditions: make([]Condition, len(n.Conditions))}}
		for i := range n.Conditions {
			if err := n.Conditions[i].into(&c.Group.Conditions[i]); err != nil {
				return err
			}
		}
		return nil
	default:
		return Errorf(CodeInvalidRequest, "kind %q is neither predicate nor group", n.Kind)
	}
}
