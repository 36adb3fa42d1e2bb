package models

import (
	"html/template"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/graph"
)

// diagram draws the state machine at the player's step.
func (d *modelData) diagram() template.HTML {
	states, transitions := len(d.Document.States), len(d.Document.Transitions)
	if states == 0 {
		return ""
	}
	g := graph.Graph{
		ID: "machine", Title: "State diagram of " + d.ID,
		Description: text.Plural(states, "state", "states") + ", " + text.Plural(transitions, "transition", "transitions") + ". The table As text says the same.",
	}
	for _, s := range d.Document.States {
		g.Nodes = append(g.Nodes, d.node(s))
	}
	leaving := waysOut(d.Document)
	for _, t := range d.Document.Transitions {
		g.Edges = append(g.Edges, d.edge(t, leaving[t.FromStateID]))
	}
	return graph.Machine(g)
}

// waysOut counts each state's outgoing transitions: priorities matter only if there are
// several.
func waysOut(doc countersign.AgentModel) map[string]int {
	n := map[string]int{}
	for _, t := range doc.Transitions {
		n[t.FromStateID]++
	}
	return n
}

func (d *modelData) node(s countersign.ModelState) graph.Node {
	n := graph.Node{
		ID: s.ID, Title: s.Name, Sub: s.Meaning, Start: s.IsStart, Final: s.IsFinal, Badge: badge(d.Findings, s.ID),
		State: d.Player.class(s.ID), Href: d.Player.hrefOf(s.ID),
	}
	x, errX := s.Position.X.Float64()
	y, errY := s.Position.Y.Float64()
	if n.Placed = errX == nil && errY == nil && !math.IsInf(x, 0) && !math.IsInf(y, 0); n.Placed {
		n.X, n.Y = x, y
	}
	return n
}

func (d *modelData) edge(t countersign.Transition, waysOut int) graph.Edge {
	e := graph.Edge{From: t.FromStateID, To: t.ToStateID, State: d.Player.edgeClass(t.ID)}
	if words := labelWords(t); words != text.Always {
		e.Label = append(e.Label, words)
	}
	if does := actionWords(d.Document, t.ActionID); does != "" {
		e.Label = append(e.Label, "/ "+does)
	}
	if waysOut > 1 {
		e.Priority = strconv.FormatInt(t.Priority, 10)
	}
	return e
}

// longLabel is how many characters of a condition fit on a label beside an action.
const longLabel = 56

// labelWords is a transition's condition, or its name if the condition is too long; the
// table shows it whole.
func labelWords(t countersign.Transition) string {
	words := text.ConditionWords(t.Condition)
	if utf8.RuneCountInString(words) > longLabel && t.Name != "" {
		return t.Name
	}
	return words
}

// actionWords are an action's name and memory effects, "" for none.
func actionWords(doc countersign.AgentModel, id string) string {
	if id == "" {
		return ""
	}
	for _, a := range doc.Actions {
		if a.ID == id && len(a.MemoryEffects) > 0 {
			return a.Name + ", " + text.EffectWords(a.MemoryEffects)
		}
		if a.ID == id {
			return a.Name
		}
	}
	return id
}

type transitionRow struct{ From, Name, When, Does, To string }

// transitionsOf lists the transitions by state, in the order of evaluation.
func transitionsOf(doc countersign.AgentModel) []transitionRow {
	var rows []transitionRow
	names := stateNames(doc)
	seen := map[string]bool{}
	add := func(stateID string) {
		if seen[stateID] {
			return
		}
		seen[stateID] = true
		out := outOf(doc, stateID)
		for _, t := range out {
			when := text.ConditionWords(t.Condition)
			if len(out) > 1 {
				when = strconv.FormatInt(t.Priority, 10) + ": " + when
			}
			rows = append(rows, transitionRow{names.of(t.FromStateID), t.Name, when, actionWords(doc, t.ActionID), names.of(t.ToStateID)})
		}
	}
	for _, s := range doc.States {
		add(s.ID)
	}
	for _, t := range doc.Transitions { // those whose source state doesn't exist
		add(t.FromStateID)
	}
	return rows
}
