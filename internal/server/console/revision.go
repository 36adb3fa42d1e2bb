package console

import (
	"context"
	"net/http"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// toggling is enabling or disabling a project.
type toggling func(context.Context, control.Actor, string, countersign.Toggle) (countersign.Project, error)

// admission is admitting or suspending an agent.
type admission func(context.Context, control.Actor, string, countersign.Admission) (countersign.Agent, error)

// formRevision is the revision that the form was made from; 0, which can only create,
// if it is missing.
func (v *pageRequest) formRevision() int64 {
	n, err := strconv.ParseInt(v.form("revision"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// revisionReplaced is the revision that a form replaces when it is saved: the one that it
// was first shown with. After a conflict it is the stored one, which the page shows.
func (v *pageRequest) revisionReplaced(stored int64, over bool) int64 {
	if v.r.Method == http.MethodPost && v.r.PostForm.Has("revision") && !over {
		return v.formRevision()
	}
	return stored
}

// Replaces is the revision that a form of the page replaces, for its hidden field: shown
// again, the form keeps the one that it began with, so that it can't overwrite unnoticed
// what somebody else has saved meanwhile.
func (f frame) Replaces(stored int64) int64 { return f.revisionReplaced(stored, f.conflict) }

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
