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
