package models

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/difference"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/graph"
)

// The page on which a model is edited: its diagram, the lists of its elements, the fields of
// one of them, and the document.

type modelFormData struct {
	ID       string
	Revision int64
	To       string
	Text     string // the document
	Over     bool
	Faulty   bool // it was to be saved with errors
	State    text.State
	Diagram  template.HTML
	Lists    []pickList
	Findings []formFinding
	More     int // findings that aren't listed

	At, Kind, Word string // the present element
	General        []string
	Fields, Folded []form.Field
	FoldWord       string
	FoldOpen       bool

	Leaving []pick // of a state
	Targets []form.Choice
	Goes    int // transitions that are removed with it

	Condition *conditionForm
	Effects   []effectRow
	Memory    []form.Choice
	Given     []form.Field // of a scenario
	Unfilled  bool         // it can be told what the scenario comes to

	Changes []difference.Difference // that saving makes
	Unshown int                     // more of them

	Problem *web.Problem
}

// pickList is a list of elements to choose from.
type pickList struct {
	List, Word, One string
	Items           []pick
	None            bool // nothing can be added yet
}

// Add is the word of the button that adds one.
func (l pickList) Add() string {
	if l.List == listActions {
		return "Add an " + l.One
	}
	return "Add a " + l.One
}

// pick is an element; a click on the diagram chooses it by its element ID on the page.
type pick struct {
	At, Word string
	Here     bool
	Wrong    bool
}

func (p pick) ElementID() string {
	at := placeOf(p.At)
	return "pick-" + at.list + "-" + strconv.Itoa(at.i)
}

// formFinding is a finding with the element that it is about.
type formFinding struct {
	finding
	At string
}

// conditionForm is the condition of a transition.
type conditionForm struct {
	At        string
	Kept      string // its words where comparisons can't say it
	Any       bool
	Rows      []compareRow
	Variables []form.Choice
	Operators []form.Choice
}

// Field is the name of one of a row's fields.
func (c conditionForm) Field(n int, what string) string {
	return c.At + ".comparison" + strconv.Itoa(n) + "." + what
}

type effectRow struct {
	N                      int
	At                     string
	Variable, Value, Wrong string
}

func (e effectRow) Field(what string) string {
	return e.At + ".memoryEffects[" + strconv.Itoa(e.N) + "]." + what
}

func (s *modelForm) page(err error) (*web.Page, error) {
	v := s.v
	found, unchecked := v.Control.CheckModel(v.R.Context(), v.Actor, &s.doc)
	if unchecked != nil {
		return nil, unchecked
	}
	f := form.Of(v, err, "")
	f.Filled = true
	for _, p := range found.Errors {
		f.Wrong[p.Path] = plainFinding(&s.doc, p)
	}
	for what, text := range s.wrong {
		f.Wrong[what] = text
	}
	d := modelFormData{
		ID: s.id, Revision: s.revision, To: "/models/+form", Text: text.Pretty(s.doc), Over: s.over, Faulty: s.faulty, State: validity(found),
		At: s.at.String(), Lists: s.lists(found),
	}
	list, more := findingsOf(s.doc, found)
	if len(s.doc.States) == 0 { // the page says what to begin with
		d.State, list = text.State{Class: "is-idle", Icon: "i-models", Word: "Empty"}, nil
	}
	for i := range list {
		p := problemAt(found, i)
		list[i].Message = text.Upper(plainFinding(&s.doc, p)) + "."
		d.Findings = append(d.Findings, formFinding{list[i], s.existing(placeOf(p.Path)).String()})
	}
	d.More = more
	d.Diagram = s.diagram(list)
	s.fields(f, &d)
	d.Problem = s.problem(err)
	if d.Changes, err = s.changes(); err != nil {
		return nil, err
	}
	d.Unshown = max(0, len(d.Changes)-changesShown)
	d.Changes = d.Changes[:len(d.Changes)-d.Unshown]
	p := &web.Page{Name: "model-form", Title: "New model", Nav: "models", Crumbs: []web.Crumb{{Word: "Models", Href: "/models"}, {Word: "New model"}}}
	if s.id != "" {
		d.To = modelHref(s.id) + "/form"
		p.Title, p.Crumbs = "Edit "+cmp.Or(s.doc.Name, s.id), modelCrumbs(countersign.Model{ID: s.id}, "Edit")
	}
	p.Data = d
	return p, nil
}

// problemAt is the problem of a finding: errors come before warnings.
func problemAt(found countersign.Validation, i int) countersign.Problem {
	if i < len(found.Errors) {
		return found.Errors[i]
	}
	return found.Warnings[i-len(found.Errors)]
}

// plainFinding words a problem for who fills in a form, where its message is about JSON.
func plainFinding(doc *countersign.AgentModel, p countersign.Problem) string {
	empty := strings.HasSuffix(p.Message, ` ""`)
	switch {
	case p.Code == model.NoStartState && len(doc.States) == 0:
		return "a model begins with a start state; add a state"
	case p.Code == model.NoStartState:
		return "no state is the start; open one and tick “Runs begin here”"
	case p.Code == model.SeveralStartStates:
		return "there is a start state already; untick “Runs begin here” in one of them"
	case p.Code == model.FinalStateLeft:
		return "this state is final, so nothing leads out of it; remove the transition, or untick “Runs end here” in the state"
	case p.Code == model.DeadEndState:
		return "nothing leads out of this state, and it isn’t final; tick “Runs end here”, or add a transition"
	case p.Code == model.UnknownState && empty:
		return "choose a state"
	case p.Code == model.UnknownVariable && strings.Contains(p.Message, `variable ""`):
		return "choose a variable"
	case p.Code == model.ChoicesMissing:
		return "list at least one choice"
	}
	return p.Message
}

// problem is the error above the form.
func (s *modelForm) problem(err error) *web.Problem {
	p := web.ProblemOf(err)
	switch {
	case p == nil:
		return nil
	case s.over:
		p.Sentence, p.Detail = "Not saved: this model was changed meanwhile. Your changes are kept.", text.Upper(web.ProblemMessage(err))+"."
	case len(s.wrong) > 0:
		p.Sentence, p.Detail = text.Plural(len(s.wrong), "field needs", "fields need")+" attention.", ""
	case s.faulty:
		p.Detail = "Correct what is marked, or save it as it is: no plan can be made of it then."
	}
	return p
}

// lists are the elements to choose from.
func (s *modelForm) lists(found countersign.Validation) []pickList {
	doc := &s.doc
	wrong := map[place]bool{}
	for _, p := range found.Errors {
		wrong[placeOf(p.Path)] = true
	}
	for what := range s.wrong {
		wrong[placeOf(what)] = true
	}
	list := func(name, word, one string, n int, wordOf func(i int) string) pickList {
		out := pickList{List: name, Word: word, One: one}
		for i := range n {
			at := place{name, i}
			out.Items = append(out.Items, pick{At: at.String(), Word: wordOf(i), Here: at == s.at, Wrong: wrong[at]})
		}
		return out
	}
	lists := []pickList{
		list(listStates, "States", "state", len(doc.States), func(i int) string { return cmp.Or(doc.States[i].Name, doc.States[i].ID) }),
		list(listTransitions, "Transitions", "transition", len(doc.Transitions), func(i int) string { return s.arrow(&doc.Transitions[i]) }),
		list(listVariables, "Variables", "variable", len(doc.Variables), func(i int) string { return cmp.Or(doc.Variables[i].Name, doc.Variables[i].ID) }),
		list(listActions, "Actions", "action", len(doc.Actions), func(i int) string { return cmp.Or(doc.Actions[i].Name, doc.Actions[i].ID) }),
		list(listScenarios, "Scenarios", "scenario", len(doc.Scenarios), func(i int) string { return cmp.Or(doc.Scenarios[i].Name, doc.Scenarios[i].ID) }),
	}
	lists[1].None = len(doc.States) == 0 // a transition leads from a state to a state
	return lists
}

func (m *modelDraft) arrow(t *countersign.Transition) string {
	names := stateNames(m.doc)
	return names.of(t.FromStateID) + " → " + names.of(t.ToStateID)
}

// diagram draws the document; its states and labels lead to their entries in the lists.
func (s *modelForm) diagram(findings []finding) template.HTML {
	if len(s.doc.States) == 0 {
		return ""
	}
	d := modelData{Model: countersign.Model{ID: cmp.Or(s.id, "the new model"), Document: s.doc}, Findings: findings}
	g := graph.Graph{ID: "machine", Title: "State diagram", Description: "The lists below have the same states and transitions."}
	leaving := waysOut(s.doc)
	for i, one := range s.doc.States {
		n := d.node(one)
		n.Href = "#" + pick{At: place{listStates, i}.String()}.ElementID()
		if s.at == (place{listStates, i}) {
			n.State = "here"
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i, t := range s.doc.Transitions {
		e := d.edge(t, leaving[t.FromStateID])
		if len(e.Label) == 0 {
			e.Label = []string{text.Always}
		}
		e.Href = "#" + pick{At: place{listTransitions, i}.String()}.ElementID()
		if s.at == (place{listTransitions, i}) {
			e.State = "now"
		}
		g.Edges = append(g.Edges, e)
	}
	return graph.Machine(g)
}

// general are the errors about the element as a whole.
func (s *modelForm) general(f *form.Form) []string {
	if message := f.Wrong[s.at.String()]; message != "" {
		return []string{text.Upper(message) + "."}
	}
	return nil
}

// row returns and removes the errors of a part of an element.
func (s *modelForm) row(f *form.Form, paths ...string) string {
	var texts []string
	for _, at := range paths {
		for path, message := range f.Wrong {
			if path == at || strings.HasPrefix(path, at+".") {
				texts = append(texts, text.Upper(message)+".")
				delete(f.Wrong, path)
			}
		}
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), " ")
}
