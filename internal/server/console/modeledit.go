package console

import (
	"cmp"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
)

// editData is the form that edits a model's document, with the error that kept it from
// being stored.
type editData struct {
	ID       string // "" for a new model
	Text     string
	Expected int64
	Current  int64 // the conflicting revision, 0 if none
	Problem  *problem
	Unfit    bool // the form can't show all of it
}

// Action is the form's target.
func (d editData) Action() string {
	if d.ID == "" {
		return Prefix + "/models"
	}
	return Prefix + modelHref(d.ID)
}

func (d editData) page() *page {
	p := &page{name: "model-edit", Title: "New model", Nav: "models", Data: d, status: d.Problem.status()}
	if d.ID == "" {
		p.Crumbs = []crumb{{Word: "Models", Href: "/models"}, {Word: "New model"}}
	} else {
		p.Title = "Edit " + d.ID
		p.Crumbs = modelCrumbs(countersign.Model{ID: d.ID}, "Edit")
	}
	return p
}

// newModelPage starts from the example model.
func newModelPage(v *pageRequest) (*page, error) {
	if err := access.Allow(v.actor.Principal, access.WriteModel); err != nil {
		return nil, err
	}
	doc, err := countersign.ValueOf(v.cfg.ExampleModel)
	if err != nil {
		return nil, err
	}
	return editData{Text: text.Indented(doc.Raw())}.page(), nil
}

func editModelPage(v *pageRequest) (*page, error) {
	if err := access.Allow(v.actor.Principal, access.WriteModel); err != nil {
		return nil, err
	}
	m, err := v.control.Model(v.r.Context(), v.actor, v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return editData{ID: m.ID, Text: text.Pretty(m.Document), Expected: m.Revision}.page(), nil
}

func createModel(v *pageRequest) (string, error) {
	return putModel(v, editData{Text: v.form("document")})
}

func saveModel(v *pageRequest) (string, error) {
	expected, err := strconv.ParseInt(v.form("expectedRevision"), 10, 64)
	if err != nil || expected < 1 {
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "expectedRevision: it is the revision that was edited; open the page again")
	}
	return putModel(v, editData{ID: v.r.PathValue("id"), Text: v.form("document"), Expected: expected})
}

// putModel stores the form's document; a refused one is shown again with its text.
func putModel(v *pageRequest, d editData) (string, error) {
	subject := "model"
	if d.ID != "" {
		subject += "/" + d.ID
	}
	if err := v.control.Authorize(v.r.Context(), v.actor, access.WriteModel, subject); err != nil {
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
	if _, err := v.control.PutModel(v.r.Context(), v.actor, id, w); err != nil {
		return "", modelAgain(v, d, err)
	}
	return modelHref(id), nil
}

// modelAgain shows the form again. After a conflict it carries the current revision, so
// that saving again overwrites it knowingly.
func modelAgain(v *pageRequest, d editData, err error) error {
	d.Problem = refusal(err, "Not saved. Your text is kept.")
	if d.Problem == nil {
		return err
	}
	if d.Problem.Code == countersign.CodeRevisionConflict {
		d.Problem.Sentence = "Not saved: this id is in use. Your text is kept."
		if now, err := v.control.Model(v.r.Context(), v.actor, d.ID); err == nil {
			d.Current, d.Expected = now.Revision, now.Revision
			d.Problem.Sentence = "Not saved: revision " + strconv.FormatInt(now.Revision, 10) + " is there already. Your text is kept."
		}
	}
	return d.page()
}
