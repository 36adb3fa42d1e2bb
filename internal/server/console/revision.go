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
