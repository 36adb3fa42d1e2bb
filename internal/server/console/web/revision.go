package web

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// FormRevision is the revision that the form was made from; 0, which can only create,
// if it is missing.
func (r *Request) FormRevision() int64 {
	n, err := strconv.ParseInt(r.Form("revision"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// TypedReason requires a reason where the API makes it optional.
func TypedReason(reason string) error {
	if safetext.Blank(reason) {
		return Invalid("reason", "say why; the audit log keeps it")
	}
	return nil
}

// NewID requires an ID for a new record, and the fields beside it.
func (r *Request) NewID(beside ...string) error {
	err := r.Chosen(append([]string{"id"}, beside...)...)
	if err == nil && !countersign.ValidID(r.Form("id")) {
		err = Invalid("id", "letters, digits, dots, underscores and hyphens, at most 128")
	}
	return err
}

// Taken says of a conflict with a stored record that the new one's ID is in use.
func Taken(err error, kind, id string) error {
	if countersign.ErrorCode(err) == countersign.CodeRevisionConflict {
		return Invalid("id", "there is a %s %s already", kind, id)
	}
	return err
}

// WithReason performs a change for the reason in the form and goes to the record's page. What
// is refused is shown on the page again.
func (r *Request) WithReason(href string, again func(*Request, error) (*Page, error), change func(reason string) error) (string, error) {
	err := TypedReason(r.Form("reason"))
	if err == nil {
		err = change(r.Form("reason"))
	}
	if err != nil {
		return "", r.FormAgain(err, again)
	}
	return href, nil
}
