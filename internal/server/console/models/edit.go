package models

import (
	"cmp"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// editData is the form that edits a model's document, with the error that kept it from
// being stored.
type editData struct {
	ID       string // "" for a new model
	Text     string
	Expected int64
	Current  int64 // the conflicting revision, 0 if none
	Problem  *web.Problem
	Unfit    bool // the form can't show all of it
}

// Action is the form's target.
func (d editData) Action() string {
	if d.ID == "" {
		return web.Prefix + "/models"
	}
	return web.Prefix + modelHref(d.ID)
}

func (d editData) page() *web.Page {
	p := &web.Page{Name: "model-edit", Title: "New model", Nav: "models", Data: d, Status: d.Problem.Status()}
	if d.ID == "" {
		p.Crumbs = []web.Crumb{{Word: "Models", Href: "/models"}, {Word: "New model"}}
	} else {
		p.Title = "Edit " + d.ID
		p.Crumbs = modelCrumbs(countersign.Model{ID: d.ID}, "Edit")
	}
	return p
}

// newModelPage starts from the example model.
func newModelPage(v *web.Request) (*web.Page, error) {
	if err := access.Allow(v.Actor.Principal, access.WriteModel); err != nil {
		return nil, err
	}
	doc, err := countersign.ValueOf(v.Config.ExampleModel)
	if err != nil {
		return nil, err
	}
	return editData{Text: text.Indented(doc.Raw())}.page(), nil
}

func editModelPage(v *web.Request) (*web.Page, error) {
	if err := access.Allow(v.Actor.Principal, access.WriteModel); err != nil {
		return nil, err
	}
	m, err := v.Control.Model(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return editData{ID: m.ID, Text: text.Pretty(m.Document), Expected: m.Revision}.page(), nil
}

func createModel(v *web.Request) (string, error) {
	return putModel(v, editData{Text: v.Form("document")})
}

func saveModel(v *web.Request) (string, error) {
	expected, err := strconv.ParseInt(v.Form("expectedRevision"), 10, 64)
	if err != nil || expected < 1 {
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "expectedRevision: it is the revision that was edited; open the page again")
	}
	return putModel(v, editData{ID: v.R.PathValue("id"), Text: v.Form("document"), Expected: expected})
}

// putModel stores the form's document; a refused one is shown again with its text.
func putModel(v *web.Request, d editData) (string, error) {
	subject := "model"
	if d.ID != "" {
		subject += "/" + d.ID
	}
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.WriteModel, subject); err != nil {
		return "", err
	}
	var w countersign.ModelWrite
	if err := exactjson.Decode([]byte(d.Text), &w.Document); err != nil {
		return "", modelAgain(v, d, err)
	}
	id := cmp.Or(d.ID, w.Document.ID)
	if !countersign.ValidID(id) {
		return "", modelAgain(v, d, countersign.Errorf(countersign.CodeInvalidRequest, "id: it begins with a letter or digit and has at most %d letters, digits, dots, hyphens and underscores", countersign.MaxIDLength))
	}
	w.ExpectedRevision = d.Expected
	if _, err := v.Control.PutModel(v.R.Context(), v.Actor, id, w); err != nil {
		return "", modelAgain(v, d, err)
	}
	return modelHref(id), nil
}

// modelAgain shows the form again. After a conflict it carries the current revision, so
// that saving again overwrites it knowingly.
func modelAgain(v *web.Request, d editData, err error) error {
	d.Problem = web.Refusal(err, "Not saved. Your text is kept.")
	if d.Problem == nil {
		return err
	}
	if d.Problem.Code == countersign.CodeRevisionConflict {
		d.Problem.Sentence = "Not saved: this id is in use. Your text is kept."
		if now, err := v.Control.Model(v.R.Context(), v.Actor, d.ID); err == nil {
			d.Current, d.Expected = now.Revision, now.Revision
			d.Problem.Sentence = "Not saved: revision " + strconv.FormatInt(now.Revision, 10) + " is there already. Your text is kept."
		}
	}
	return d.page()
}
