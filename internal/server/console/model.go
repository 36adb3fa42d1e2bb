package console

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
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
	Problem     *problem // of the simulation or its inputs
	Refused     *problem // of suspending or resuming
	Reason      string
	Whole       bool // the document is shown whatever its size
	Query       string
}

// shortDocument is the size up to which the page includes the document, folded.
const shortDocument = 8 << 10

func (d *modelData) ShowsDocument() bool {
	return d.Whole || len(text.RawOf(d.Document)) <= shortDocument
}

func modelPage(v *pageRequest) (*page, error) {
	d, err := modelOf(v, v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p := d.page()
	p.status = d.Problem.status()
	return p, nil
}

func (d *modelData) page() *page {
	return &page{name: "model", Title: cmp.Or(d.Name, d.ID), Nav: "models", Crumbs: modelCrumbs(d.Model), Data: d}
}

// modelOf reads a model, validates it and simulates the selected scenario.
func modelOf(v *pageRequest, id string) (*modelData, error) {
	m, err := v.control.Model(v.r.Context(), v.actor, id)
	if err != nil {
		return nil, err
	}
	found, err := v.control.ValidateModel(v.r.Context(), v.actor, id)
	if err != nil {
		return nil, err
	}
	d := &modelData{Model: m, Whole: v.query("document") != "", State: validity(found), Scenarios: passing(m.Document, found)}
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

func suspendModel(v *pageRequest) (string, error) {
	return toggleModel(v, moving(v.control.SuspendModel))
}

func resumeModel(v *pageRequest) (string, error) {
	return toggleModel(v, moving(v.control.ResumeModel))
}

func toggleModel(v *pageRequest, toggle move) (string, error) {
	id := v.r.PathValue("id")
	err := toggle(v.r.Context(), v.actor, id, v.form("reason"))
	if countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		return modelHref(id), err
	}
	d, failed := modelOf(v, id)
	if failed != nil {
		return "", failed
	}
	d.Refused, d.Reason = &problem{Sentence: "Say why; a reason can't be blank."}, v.form("reason")
	p := d.page()
	p.status = http.StatusBadRequest
	return "", p
}
