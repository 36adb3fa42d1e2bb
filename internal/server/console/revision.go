package console

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// formRevision is the revision that the form was made from; 0, which can only create,
// if it is missing.
func (v *pageRequest) formRevision() int64 {
	n, err := strconv.ParseInt(v.form("revision"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// typedReason requires a reason where the API makes it optional.
func typedReason(reason string) error {
	if safetext.Blank(reason) {
		return invalid("reason", "say why; the audit log keeps it")
	}
	return nil
}

// newID requires an ID for a new record, and the fields beside it.
func (v *pageRequest) newID(beside ...string) error {
	err := v.chosen(append([]string{"id"}, beside...)...)
	if err == nil && !countersign.ValidID(v.form("id")) {
		err = invalid("id", "letters, digits, dots, underscores and hyphens, at most 128")
	}
	return err
}

// taken says of a conflict with a stored record that the new one's ID is in use.
func taken(err error, kind, id string) error {
	if countersign.ErrorCode(err) == countersign.CodeRevisionConflict {
		return invalid("id", "there is a %s %s already", kind, id)
	}
	return err
}

// withReason performs a change for the reason in the form and goes to the record's page. What
// is refused is shown on the page again.
func (v *pageRequest) withReason(href string, again func(*pageRequest, error) (*page, error), change func(reason string) error) (string, error) {
	err := typedReason(v.form("reason"))
	if err == nil {
		err = change(v.form("reason"))
	}
	if err != nil {
		return "", v.formAgain(err, again)
	}
	return href, nil
}
