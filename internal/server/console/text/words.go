package text

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// State is how a status looks: a color class, an icon and a word, each of which says
// the same.
type State struct{ Class, Icon, Word string }

// StatusNotice says at the top of a page whether a project, agent or team can be used,
// and which buttons change that.
type StatusNotice struct {
	Class, Icon, Sentence, Detail       string
	Check, Enable, Admit, Resume, Start bool
	See                                 string // the ID of the agent that keeps a team from running
}

// RunStates are the states of runs by status.
var RunStates = map[countersign.RunStatus]State{
	countersign.RunReady:            {"is-run", "s-ready", "Ready"},
	countersign.RunRunning:          {"is-run", "s-running", "Running"},
	countersign.RunWaitingApproval:  {"is-wait", "s-waiting", "Waiting for approval"},
	countersign.RunRecoveryRequired: {"is-unc", "s-recovery", "Recovery required"},
	countersign.RunCompleted:        {"is-ok", "s-completed", "Completed"},
	countersign.RunFailed:           {"is-fail", "s-failed", "Failed"},
	countersign.RunCancelled:        {"is-idle", "s-cancelled", "Cancelled"},
}

// StepStates are the states of steps by status.
var StepStates = map[countersign.StepStatus]State{
	countersign.StepPending:          {"is-idle", "s-pending", "Pending"},
	countersign.StepWaitingApproval:  {"is-wait", "s-waiting", "Waiting for approval"},
	countersign.StepRunning:          {"is-run", "s-running", "Running"},
	countersign.StepCompleted:        {"is-ok", "s-completed", "Completed"},
	countersign.StepSimulated:        {"is-idle", "s-simulated", "Rehearsed"},
	countersign.StepFailed:           {"is-fail", "s-failed", "Failed"},
	countersign.StepRecoveryRequired: {"is-unc", "s-recovery", "Recovery required"},
	countersign.StepAbandoned:        {"is-unc", "s-abandoned", "Abandoned"},
	countersign.StepCancelled:        {"is-idle", "s-cancelled", "Cancelled"},
	countersign.StepSkipped:          {"is-idle", "s-skipped", "Skipped"},
}

var approvalStates = map[countersign.ApprovalStatus]State{
	countersign.ApprovalPending:  {"is-wait", "s-waiting", "Waiting for approval"},
	countersign.ApprovalApproved: {"is-ok", "s-completed", "Approved"},
	countersign.ApprovalRejected: {"is-fail", "s-rejected", "Rejected"},
}

// RunState is a run's state; a completed rehearsal is Rehearsed, so that nobody mistakes it for
// an executed run. One that changed something unproven, or of which nothing was proven, is not
// green.
func RunState(r countersign.Run) State {
	switch {
	case r.Status != countersign.RunCompleted:
	case r.Mode == countersign.ModeDryRun:
		return State{"is-idle", "s-simulated", "Rehearsed"}
	case len(r.Steps) > 0 && unproven(&r):
		return State{"is-idle", "s-completed", "Completed, not verified"}
	}
	return RunStates[r.Status]
}

// unproven reports a run of which nothing was proven, or that changed something and nobody asked
// whether it did.
func unproven(r *countersign.Run) bool {
	return r.UnverifiedSteps == len(r.Steps) || slices.ContainsFunc(r.Steps, func(s countersign.StepRun) bool {
		return s.SideEffect && s.Status == countersign.StepCompleted && !Proven(&s)
	})
}

// Proven reports a step whose answer was all that was expected of it.
func Proven(s *countersign.StepRun) bool {
	return s.Verification != nil && s.Verification.Status == countersign.VerificationPassed
}

// StepState is a step's state: completed without anything to verify, it is not green.
func StepState(s countersign.StepRun) State {
	if s.Status == countersign.StepCompleted && !Proven(&s) {
		return State{"is-idle", "s-completed", "Completed"}
	}
	return StepStates[s.Status]
}

// ApprovalState is an approval's state.
func ApprovalState(a countersign.Approval) State { return approvalStates[a.Status] }

// Who is a principal for display.
func Who(principal string) string {
	kind, name, ok := strings.Cut(principal, ":")
	switch {
	case !ok:
		return principal
	case kind == "user":
		return name
	}
	return kind + " " + name
}

// Called is a principal with its name in quotation marks, since a name may be any text.
func Called(principal, name string) string {
	if name == "" || principal == "user:"+name {
		return Who(principal)
	}
	return Who(principal) + " “" + name + "”"
}

// DecidedBecause is the reason of a decision.
func DecidedBecause(by, reason string) string { return countersign.DecisionWords(by, reason, Who) }

// makers words a chain of principals, each made by the next.
func makers(chain []string) string {
	words := make([]string, len(chain))
	for i, id := range chain {
		words[i] = Who(id)
	}
	return strings.Join(words, ", made by ")
}

// Titled capitalizes an API constant for display.
func Titled(word string) string {
	if word == "" {
		return ""
	}
	return word[:1] + strings.ToLower(strings.ReplaceAll(word[1:], "_", " "))
}

// Upper is a message as a sentence begins, without its full stop.
func Upper(s string) string {
	s = strings.TrimSuffix(s, ".")
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// InWords is the message of an unknown outcome as people read it.
func InWords(message string) string {
	if why, ok := strings.CutPrefix(message, countersign.AnswerUnreadable); ok {
		return "the answer can't be read: " + why
	}
	return message
}

// RoleWords lists roles for display.
func RoleWords(roles []countersign.Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = Titled(string(r))
	}
	return strings.Join(words, ", ")
}

// RetiredState takes precedence over any other state.
var RetiredState = State{"is-idle", "s-cancelled", "Retired"}

// RetiredNotice is the notice of a retired project, agent or team.
func RetiredNotice(kind string) StatusNotice {
	return StatusNotice{
		Class: "call--wait", Icon: "s-cancelled",
		Sentence: "This " + kind + "is retired: it can’t be used for new plans or runs.", Detail: "It is hidden from lists. An admin can restore it.",
	}
}
