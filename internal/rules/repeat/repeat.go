// Package repeat decides what a call over MCP finds that was made before: its own earlier run,
// runs of the same call whose outcome nobody knows, and rejections of it. It is pure.
package repeat

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// callKey begins the key of a call over MCP; what follows is a digest of its inputs. No caller
// of the API can have it, because it has a space.
const callKey = "mcp "

// IsCall reports the key of a run that was started over MCP.
func IsCall(key string) bool { return strings.HasPrefix(key, callKey) }

// Key is the key of a call: the same agent, capability, mode, inputs and task have the same.
func Key(agentID, capability, mode string, inputs map[string]countersign.Value, task string) (string, error) {
	digest, err := countersign.CanonicalDigest([]any{agentID, capability, mode, inputs, task})
	return callKey + digest, err
}

// Task is a task as calls are compared by it: models write it anew each time.
func Task(text string) string { return strings.Join(strings.Fields(text), " ") }

// Earlier is the run that the same call started, with its steps; what is left of an archived one
// has none, and Effects says what they came to.
type Earlier struct {
	Run     *countersign.Run
	Effects countersign.Effects

	SideEffect bool // of the capability as it is now, for runs without steps
}

// Finds reports that a repeat is answered with the earlier run, and isn't a run of its own. A run
// that hasn't ended is found whatever its age. After its end nobody gains by the answer of a
// read, and of a side effect that was never begun nothing could happen twice: unless somebody
// denied it, in which case asking again doesn't change the answer.
func (e Earlier) Finds(now time.Time) bool {
	switch r := e.Run; {
	case !r.Status.IsTerminal():
		return true
	case !e.sideEffect():
		return false
	case !now.Before(endOf(r).Add(countersign.RepeatedCall)):
		return false
	case r.Mode != countersign.ModeLive: // what would happen is as it was
		return true
	}
	return denied[e.Run.Code()] || e.wasSent()
}

func endOf(r *countersign.Run) time.Time {
	if r.CompletedAt.IsZero() {
		return r.UpdatedAt
	}
	return r.CompletedAt
}

func (e Earlier) sideEffect() bool {
	if len(e.Run.Steps) == 0 {
		return e.SideEffect
	}
	return slices.ContainsFunc(e.Run.Steps, func(s countersign.StepRun) bool { return s.SideEffect })
}

// denied are the codes by which somebody, or a rule or budget of theirs, has said no.
var denied = map[countersign.Code]bool{
	countersign.CodeApprovalRejected: true, countersign.CodeDeniedByRule: true, countersign.CodeDeniedByBudget: true,
}

// unsent are the codes of runs that ended with nothing sent, unless their record says more.
var unsent = map[countersign.Code]bool{
	countersign.CodeNotSent: true, countersign.CodeApprovalExpired: true, countersign.CodeCancelled: true,
	countersign.CodeDrift: true, countersign.CodeProjectDisabled: true, countersign.CodeSetAside: true,
	countersign.CodePreconditionFailed: true, countersign.CodePreconditionUnknown: true,
}

// wasSent reports that something of the run was sent, or that nobody knows that it wasn't: the
// store that this one replaces may have.
func (e Earlier) wasSent() bool {
	r := e.Run
	switch {
	case r.MayHaveHappened, !r.RestoredAt.IsZero():
		return true
	case r.Code() == countersign.CodeWithdrawn: // the receiver took the key back before anything was begun
		return false
	case e.Effects != countersign.EffectsNone, !unsent[r.Code()]:
		return true
	}
	return slices.ContainsFunc(r.Steps, func(s countersign.StepRun) bool { return s.SideEffect && s.WasSent() })
}
