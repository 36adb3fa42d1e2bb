package models

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// modelData is a model's page. Player, Here and Values are about the simulation step in
// the address.
type modelData struct {
	countersign.Model
	State       text.State
	Findings    []finding
	MoreFound   int
	Scenarios   string // "4 of 4 pass"
	Diagram     template.HTML
	Player      player
	Here        moment
	Values      []valueRow
	Inputs      []modelInput
	Transitions []transitionRow
	Problem     *web.Problem // of the simulation or its inputs
	Refused     *web.Problem // of suspending or resuming
	Reason      string
	Whole       bool // the document is shown whatever its size
	Query       string
}

// shortDocument is the size up to which the page includes the document, folded.
const shortDocument = 8 << 10

func (d *modelData) ShowsDocument() bool {
	return d.Whole || len(text.RawOf(d.Document)) <= shortDocument
}

func modelPage(v *web.Request) (*web.Page, error) {
	d, err := modelOf(v, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p := d.page()
	p.Status = d.Problem.Status()
	return p, nil
}

func (d *modelData) page() *web.Page {
	return &web.Page{Name: "model", Title: cmp.Or(d.Name, d.ID), Nav: "models", Crumbs: modelCrumbs(d.Model), Data: d}
}

// modelOf reads a model, validates it and simulates the selected scenario.
func modelOf(v *web.Request, id string) (*modelData, error) {
	m, err := v.Control.Model(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil, err
	}
	found, err := v.Control.ValidateModel(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil, err
	}
	d := &modelData{Model: m, Whole: v.Query("document") != "", State: validity(found), Scenarios: passing(m.Document, found)}
	d.Findings, d.MoreFound = findingsOf(m.Document, found)
	if err := playModel(v, d, found.Valid); err != nil {
		return nil, err
	}
	d.Diagram = d.diagram()
	d.Transitions = transitionsOf(m.Document)
	return d, nil
}

func validity(found countersign.Validation) text.State {
	switch {
	case len(found.Errors) > 0:
		return text.State{Class: "is-fail", Icon: "s-failed", Word: text.Plural(len(found.Errors), "error", "errors")}
	case len(found.Warnings) > 0:
		return text.State{Class: "is-wait", Icon: "s-warn", Word: text.Plural(len(found.Warnings), "warning", "warnings")}
	}
	return text.State{Class: "is-ok", Icon: "s-completed", Word: "Valid"}
}

// unmet are the codes of scenarios that miss their expectation.
var unmet = []string{"expectation_not_met", "scenario_loops", "scenario_too_long"}

// passing counts the scenarios that pass. An invalid model can't be simulated.
func passing(doc countersign.AgentModel, found countersign.Validation) string {
	all := len(doc.Scenarios)
	if all == 0 || !found.Valid {
		return strconv.Itoa(all)
	}
	failing := map[string]bool{}
	for _, w := range found.Warnings {
		if slices.Contains(unmet, w.Code) {
			failing[element(w.Path)] = true
		}
	}
	return strconv.Itoa(all-len(failing)) + " of " + strconv.Itoa(all) + " pass"
}

// element is the list element in a path: scenarios[3.
func element(path string) string {
	at, _, _ := strings.Cut(path, "]")
	return at
}

func suspendModel(v *web.Request) (string, error) {
	return toggleModel(v, web.Moving(v.Control.SuspendModel))
}

func resumeModel(v *web.Request) (string, error) {
	return toggleModel(v, web.Moving(v.Control.ResumeModel))
}

func toggleModel(v *web.Request, toggle web.Move) (string, error) {
	id := v.R.PathValue("id")
	err := toggle(v.R.Context(), v.Actor, id, v.Form("reason"))
	if countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		return modelHref(id), err
	}
	d, failed := modelOf(v, id)
	if failed != nil {
		return "", failed
	}
	d.Refused, d.Reason = &web.Problem{Sentence: "Say why; a reason can't be blank."}, v.Form("reason")
	p := d.page()
	p.Status = http.StatusBadRequest
	return "", p
}
