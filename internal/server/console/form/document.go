package form

import (
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Document is the page that edits a whole record as JSON. Text that can't be saved
// is kept. After a conflict the form carries the current revision and the page shows
// the stored text, so that saving again overwrites it knowingly.
type Document struct {
	Kind, ID, Name string
	Back, To       string // paths below Prefix
	Revision       int64
	New            bool
	Key            Field // the id of a new one
	Text           Field
	Example        string
	Stored         string // the stored text, after a conflict
	Consequence    string
	Use            *control.ProjectUse
	Blocked, Over  bool
	Problem        *web.Problem
}

// Page is the page that edits the document.
func (d Document) Page(nav string, crumbs []web.Crumb) *web.Page {
	title := "Edit " + d.Name + " as JSON"
	if d.New {
		title = "New " + d.Kind
	}
	if d.Problem != nil && !d.Over && d.Key.Wrong == "" {
		d.Text.Wrong = d.Problem.Sentence
	}
	return &web.Page{Name: "document", Title: title, Nav: nav, Crumbs: crumbs, Data: d}
}
