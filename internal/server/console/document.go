package console

import "github.com/countersign/countersign/internal/control"

// documentData is the page that edits something whole, as JSON. A text that can't
// be saved stays as it was typed. After a conflict the form holds the revision
// that is there now, and the page shows it: whoever saves then has seen what the
// text replaces.
type documentData struct {
	Kind, ID, Name string
	Back, To       string // below the console's prefix
	Revision       int64
	New            bool
	Key            field // the id of a new one
	Text           field
	Example        string
	Stored         string // what is there, after a conflict
	Consequence    string
	Use            *control.ProjectUse
	Blocked, Over  bool
	Problem        *problem
}

func (d documentData) page(nav string, crumbs []crumb) *page {
	title := "Edit " + d.Name + " as JSON"
	if d.New {
		title = "New " + d.Kind
	}
	if d.Problem != nil && !d.Over && d.Key.Wrong == "" {
		d.Text.Wrong = d.Problem.Sentence
	}
	return &page{name: "document", Title: title, Nav: nav, Crumbs: crumbs, Data: d}
}
