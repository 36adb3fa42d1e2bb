package console

import (
	"strings"

	"github.com/countersign/countersign"
)

// state is how a status looks: a color class, an icon and a word, each of which says
// the same.
type state struct{ Class, Icon, Word string }

// statusNotice says at the top of a page whether a project, agent or team can be used,
// and which buttons change that.
type statusNotice struct {
	Class, Icon, Sentence, Detail       string
	Check, Enable, Admit, Resume, Start bool
	See                                 string // the ID of the agent that keeps a team from running
}

var runStates = map[countersign.RunStatus]state{
	countersign.RunReady:            {"is-run", "s-ready", "Ready"},
	countersign.RunRunning:          {"is-run", "s-running", "Running"},
	countersign.RunWaitingApproval:  {"is-wait", "s-waiting", "Waiting for approval"},
	countersign.RunRecoveryRequired: {"is-unc", "s-recovery", "Recovery required"},
	countersign.RunCompleted:        {"is-ok", "s-completed", "Completed"},
	countersign.RunFailed:           {"is-fail", "s-failed", "Failed"},
	countersign.RunCancelled:        {"is-idle", "s-cancelled", "Cancelled"},
}

var stepStates = map[countersign.StepStatus]state{
	countersign.StepPending:          {"is-idle", "s-pending", "Pending"},
	countersign.StepWaitingApproval:  {"is-wait", "s-waiting", "Waiting for approval"},
	countersign.StepRunning:          {"is-run", "s-running", "Running"},
	countersign.StepCompleted:        {"is-ok", "s-completed", "Completed"},
	countersign.StepSimulated:        {"is-idle", "s-simulated", "Simulated"},
	countersign.StepFailed:           {"is-fail", "s-failed", "Failed"},
	countersign.StepRecoveryRequired: {"is-unc", "s-recovery", "Recovery required"},
	countersign.StepAbandoned:        {"is-unc", "s-abandoned", "Abandoned"},
	countersign.StepCancelled:        {"is-idle", "s-cancelled", "Cancelled"},
	countersign.StepSkipped:          {"is-idle", "s-skipped", "Skipped"},
}

var approvalStates = map[countersign.ApprovalStatus]state{
	countersign.ApprovalPending:  {"is-wait", "s-waiting", "Waiting for approval"},
	countersign.ApprovalApproved: {"is-ok", "s-completed", "Approved"},
	countersign.ApprovalRejected: {"is-fail", "s-rejected", "Rejected"},
}

// runState is a run's state; a completed rehearsal is Simulated, so that nobody
// mistakes it for an executed run.
func runState(r countersign.Run) state {
	if r.Mode == countersign.ModeDryRun && r.Status == countersign.RunCompleted {
		return state{"is-idle", "s-simulated", "Simulated"}
	}
	return runStates[r.Status]
}

func stepState(s countersign.StepRun) state { return stepStates[s.Status] }

func approvalState(a countersign.Approval) state { return approvalStates[a.Status] }

// who is a principal for display.
func who(principal string) string {
	kind, name, ok := strings.Cut(principal, ":")
	switch {
	case !ok:
		return principal
	case kind == "user":
		return name
	}
	return kind + " " + name
}

// called is a principal with its name in quotation marks, since a name may be any text.
func called(principal, name string) string {
	if name == "" || principal == "user:"+name {
		return who(principal)
	}
	return who(principal) + " “" + name + "”"
}

// decidedBecause is the reason of a decision.
func decidedBecause(by, reason string) string { return countersign.DecisionWords(by, reason, who) }

// makers words a chain of principals, each made by the next.
func makers(chain []string) string {
	words := make([]string, len(chain))
	for i, id := range chain {
		words[i] = who(id)
	}
	return strings.Join(words, ", made by ")
}

// titled capitalizes an API constant for display.
func titled(word string) string {
	if word == "" {
		return ""
	}
	return word[:1] + strings.ToLower(strings.ReplaceAll(word[1:], "_", " "))
}

func upper(s string) string {
	s = strings.TrimSuffix(s, ".")
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// inWords is the message of an unknown outcome as people read it.
func inWords(message string) string {
	if why, ok := strings.CutPrefix(message, countersign.AnswerUnreadable); ok {
		return "the answer can't be read: " + why
	}
	return message
}

// roleWords lists roles for display.
func roleWords(roles []countersign.Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = titled(string(r))
	}
	return strings.Join(words, ", ")
}

// retiredState takes precedence over any other state.
var retiredState = state{"is-idle", "s-cancelled", "Retired"}

// retiredNotice is the notice of a retired project, agent or team.
func retiredNotice(kind string) statusNotice {
	return statusNotice{
		Class: "call--wait", Icon: "s-cancelled",
		Sentence: "This " + kind + "is retired: it can’t be used for new plans or runs.", Detail: "It is hidden from lists. An admin can restore it.",
	}
}
