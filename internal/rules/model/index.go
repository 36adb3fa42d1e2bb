package model

import (
	"cmp"
	"slices"

	"github.com/countersign/countersign"
)

// index finds the parts of a document by id. It has the first of duplicate ids, so an
// entry at another place is a duplicate.
type index struct {
	variables map[string]*variable
	states    map[string]int
	actions   map[string]int
	scenarios map[string]int
}

// variable is a variable prepared for the checks.
type variable struct {
	*countersign.Variable
	slot    int // its place in the document
	choices map[string]bool
}

func newIndex(doc *countersign.AgentModel) *index {
	ix := &index{
		variables: make(map[string]*variable, len(doc.Variables)),
		states:    positions(doc.States, func(s *countersign.ModelState) string { return s.ID }),
		actions:   positions(doc.Actions, func(a *countersign.Action) string { return a.ID }),
		scenarios: positions(doc.Scenarios, func(s *countersign.Scenario) string { return s.ID }),
	}
	for i := range doc.Variables {
		v := &doc.Variables[i]
		if ix.variables[v.ID] == nil {
			ix.variables[v.ID] = &variable{Variable: v, slot: i, choices: choiceSet(v)}
		}
	}
	return ix
}

func positions[T any](list []T, id func(*T) string) map[string]int {
	at := make(map[string]int, len(list))
	for i := range list {
		if _, taken := at[id(&list[i])]; !taken {
			at[id(&list[i])] = i
		}
	}
	return at
}

func choiceSet(v *countersign.Variable) map[string]bool {
	if v.Type != countersign.TypeChoice {
		return nil
	}
	set := make(map[string]bool, len(v.Choices))
	for _, c := range v.Choices {
		set[c] = true
	}
	return set
}

// tryOrder lists, for each state, its transitions in the order in which they
// are tried: ascending priority, then document order (contract 4). Transitions
// out of nowhere are left out.
func tryOrder(doc *countersign.AgentModel, ix *index) [][]int {
	order := make([][]int, len(doc.States))
	for i := range doc.Transitions {
		if from, ok := ix.states[doc.Transitions[i].FromStateID]; ok {
			order[from] = append(order[from], i)
		}
	}
	for _, list := range order {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Compare(doc.Transitions[a].Priority, doc.Transitions[b].Priority)
		})
	}
	return order
}
