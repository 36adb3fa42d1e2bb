package models

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// A model edited on its diagram. The form carries the whole document, as it is after the
// last edit, and the fields of one of its elements: nothing is kept between two requests,
// and nothing is stored before it is saved.

// modelForm reads and shows a model that is edited by form.
type modelForm struct {
	modelElement
	revision int64 // that saving replaces
	over     bool  // somebody else saved meanwhile
	faulty   bool  // it was to be saved and has errors
	rows     int   // empty rows of comparisons and effects
}

// modelElement is the element whose fields the form has: writes them, and reads what was typed.
type modelElement struct {
	modelDraft
	v     *web.Request
	id    string            // of the stored model; "" for a new one
	wrong map[string]string // by field: what was typed and can't be read
}

// modelDraft is a document in change, and the element that the visitor is at.
type modelDraft struct {
	doc countersign.AgentModel
	at  place
}

// place is an element of a document: one of a list, or the model itself.
type place struct {
	list string // "" is the model itself
	i    int
}

// The lists of a document.
const (
	listStates      = "states"
	listTransitions = "transitions"
	listVariables   = "variables"
	listActions     = "actions"
	listScenarios   = "scenarios"
)

func (p place) String() string {
	if p.list == "" {
		return "model"
	}
	return p.list + "[" + strconv.Itoa(p.i) + "]"
}

// field is the name of one of the element's fields: its path in the document.
func (p place) field(what string) string { return p.String() + "." + what }

// placeOf reads a place, or the place that a path leads into.
func placeOf(text string) place {
	list, rest, _ := strings.Cut(text, "[")
	index, _, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 {
		return place{}
	}
	return place{list, i}
}

// sizeOf is how many elements a list has.
func sizeOf(doc *countersign.AgentModel, list string) int {
	switch list {
	case listStates:
		return len(doc.States)
	case listTransitions:
		return len(doc.Transitions)
	case listVariables:
		return len(doc.Variables)
	case listActions:
		return len(doc.Actions)
	case listScenarios:
		return len(doc.Scenarios)
	}
	return 0
}

// has reports whether the document has an element there.
func (m *modelDraft) has(p place) bool { return p.list == "" || p.i < sizeOf(&m.doc, p.list) }

func newModelFormPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.WriteModel); err != nil {
		return nil, err
	}
	s := &modelForm{modelElement: modelElement{v: v, modelDraft: modelDraft{doc: EmptyModel()}}}
	s.write()
	return s.page(nil)
}

// EmptyModel has what the shape of a document asks for and says nothing.
func EmptyModel() countersign.AgentModel {
	return countersign.AgentModel{
		SchemaVersion: countersign.ModelSchemaVersion, Revision: 1, Variables: []countersign.Variable{}, States: []countersign.ModelState{},
		Transitions: []countersign.Transition{}, Actions: []countersign.Action{}, Scenarios: []countersign.Scenario{},
	}
}

// modelFormPage shows a stored model; one that the form would change by itself is shown as
// JSON.
func modelFormPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.WriteModel); err != nil {
		return nil, err
	}
	m, err := v.Control.Model(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	s := &modelForm{modelElement: modelElement{v: v, id: m.ID, modelDraft: modelDraft{doc: m.Document}}, revision: m.Revision}
	s.doc.KeepVerbatim(countersign.Value{})
	if canonical(s.doc) != canonical(m.Document) {
		return editData{ID: m.ID, Text: text.Pretty(m.Document), Expected: m.Revision, Unfit: true}.page(), nil
	}
	if s.at = placeOf(v.Query("at")); !s.has(s.at) {
		s.at = place{}
	}
	s.write()
	return s.page(nil)
}

func canonical(doc countersign.AgentModel) string {
	v, err := countersign.ValueOf(doc)
	if err != nil {
		return ""
	}
	return string(v.Canonical())
}

func makeModel(v *web.Request) (string, error)   { return modelByForm(v, "") }
func changeModel(v *web.Request) (string, error) { return modelByForm(v, v.R.PathValue("id")) }

// modelByForm takes what was typed, and does what the pressed button says.
func modelByForm(v *web.Request, id string) (string, error) {
	subject := strings.TrimSuffix("model/"+id, "/")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.WriteModel, subject); err != nil {
		return "", err
	}
	s := &modelForm{modelElement: modelElement{v: v, id: id, wrong: map[string]string{}, modelDraft: modelDraft{at: placeOf(v.Form("at"))}}, revision: v.FormRevision()}
	if err := exactjson.Decode([]byte(v.Form("document")), &s.doc); err != nil {
		return "", err
	}
	s.doc.KeepVerbatim(countersign.Value{})
	if !s.has(s.at) {
		s.at = place{}
	}
	s.apply()
	return s.act(v.Form("do"))
}

// act does what a button says. An element with something unreadable stays where it is, or is
// removed.
func (s *modelForm) act(do string) (string, error) {
	what, which, _ := strings.Cut(do, ":")
	switch {
	case what == "remove":
		s.remove()
	case what == "", what == "check":
		return "", web.ShownAgain(s.page)
	case len(s.wrong) > 0:
		return "", web.FormAgain(countersign.Errorf(countersign.CodeInvalidRequest, "correct these fields first"), s.page)
	case what == "save", what == "saveAnyway":
		return s.save(what == "saveAnyway")
	case what == "select":
		s.at = s.existing(placeOf(which))
	case what == "add":
		s.add(which)
	case what == "leave":
		s.leave(s.v.Form("leaveTo"))
	case what == "action":
		s.addAction()
	case what == "fill":
		if err := s.fill(); err != nil {
			return "", web.FormAgain(err, s.page)
		}
	case what == "rows":
		s.rows = manyRows
	}
	s.wrong = map[string]string{}
	s.write()
	return "", web.ShownAgain(s.page)
}

func (m *modelDraft) existing(p place) place {
	if m.has(p) {
		return p
	}
	return place{}
}

// save stores the document. One with errors is shown instead, at the first of them, unless it
// is to be stored as it is.
func (s *modelForm) save(anyway bool) (string, error) {
	v, id := s.v, s.id
	if id == "" {
		id = s.doc.ID
	}
	if !countersign.ValidID(id) {
		return "", s.refuse(place{}, "id", idForm)
	}
	if s.doc.Name == "" {
		return "", s.refuse(place{}, "name", "it is needed")
	}
	found, err := v.Control.CheckModel(v.R.Context(), v.Actor, &s.doc)
	if err != nil {
		return "", err
	}
	if !found.Valid && !anyway {
		s.faulty, s.at = true, s.existing(placeOf(found.Errors[0].Path))
		s.write()
		return "", web.FormAgain(countersign.Errorf(countersign.CodeInvalidRequest, "%s", countErrors(found)), s.page)
	}
	s.doc.UpdatedAt = v.Now.UTC().Format("2006-01-02T15:04:05Z")
	w := countersign.ModelWrite{ExpectedRevision: s.revision}
	if err = exactjson.Decode([]byte(text.RawOf(s.doc)), &w.Document); err == nil { // the shape that PUT asks for
		_, err = v.Control.PutModel(v.R.Context(), v.Actor, id, w)
	}
	switch {
	case err == nil:
		return modelHref(id), nil
	case countersign.ErrorCode(err) == countersign.CodeRevisionConflict && s.id == "":
		return "", s.refuse(place{}, "id", "there is a model %s already", id)
	case countersign.ErrorCode(err) == countersign.CodeRevisionConflict:
		now, unread := v.Control.Model(v.R.Context(), v.Actor, id)
		if unread != nil {
			return "", unread
		}
		s.over, s.revision = true, now.Revision
	}
	s.write()
	return "", web.FormAgain(err, s.page)
}

func countErrors(found countersign.Validation) string {
	return "not saved: " + text.Plural(len(found.Errors), "error", "errors") + " in the model"
}

// refuse shows the form again with one field wrong.
func (s *modelForm) refuse(at place, field, format string, args ...any) error {
	s.at = at
	s.write()
	return web.FormAgain(web.Invalid(at.field(field), format, args...), s.page)
}

// fill expects of a scenario what it comes to.
func (s *modelForm) fill() error {
	if s.at.list != listScenarios || len(s.doc.States) == 0 {
		return nil
	}
	c := &s.doc.Scenarios[s.at.i]
	was := *c
	c.ExpectedStateID, c.ExpectedPath = s.doc.States[0].ID, []string{} // what it expects now may be an error
	sim, err := s.v.Control.TryModel(s.v.R.Context(), s.v.Actor, &s.doc, c.ID)
	if err == nil && sim.Outcome == countersign.OutcomeLoop {
		err = countersign.Errorf(countersign.CodeInvalidRequest, "this scenario goes round in a loop, so it comes to nothing")
	}
	if countersign.ErrorCode(err) == countersign.CodeModelInvalid {
		err = countersign.Errorf(countersign.CodeModelInvalid, "correct the model’s errors first; then it can be simulated")
	}
	if err != nil {
		*c = was
		return err
	}
	c.ExpectedPath, c.ExpectedResult = sim.Path, sim.Result
	c.ExpectedStateID = sim.Path[len(sim.Path)-1]
	return nil
}

// remove removes the present element. What refers to it is an error that the form shows,
// but for the transitions of a state, which go with it.
func (m *modelDraft) remove() {
	i, doc := m.at.i, &m.doc
	switch m.at.list {
	case listStates:
		model.RemoveState(doc, i)
	case listTransitions:
		doc.Transitions = slices.Delete(doc.Transitions, i, i+1)
	case listVariables:
		doc.Variables = slices.Delete(doc.Variables, i, i+1)
	case listActions:
		model.RemoveAction(doc, i)
	case listScenarios:
		doc.Scenarios = slices.Delete(doc.Scenarios, i, i+1)
	}
	m.at = place{}
}

// write puts the present element into the form.
func (s *modelForm) write() {
	s.v.R.PostForm = url.Values{}
	s.writeElement(func(what, value string) { s.v.R.PostForm.Set(s.at.field(what), value) })
}

// posted reports whether the form has fields of the present element.
func (m *modelElement) posted() bool { return m.sent("name") }
