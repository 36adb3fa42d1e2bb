package console

import (
	"context"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// toggling is enabling or disabling a project.
type toggling func(context.Context, control.Actor, string, countersign.Toggle) (countersign.Project, error)

// admission is admitting or suspending an agent.
type admission func(context.Context, control.Actor, string, countersign.Admission) (countersign.Agent, error)

// formRevision is the revision that the form was made of. A form without one can
// only create.
func (v *pageRequest) formRevision() int64 {
	n, err := strconv.ParseInt(v.form("revision"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// typedReason refuses a decision that nobody says why of, where the API alone
// would take it.
func typedReason(reason string) error {
	if safetext.Blank(reason) {
		return invalid("reason", "say why; the audit log keeps it")
	}
	return nil
}
