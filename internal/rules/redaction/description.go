// Package redaction says what of a run's records stays when the run is redacted, and removes the
// rest (contract 12.7): ids, principals, times, statuses, codes, names, decisions and digests
// stay. One description of the records says so; whatever it doesn't name is removed. It is pure.
package redaction

import (
	"reflect"

	"github.com/countersign/countersign"
)

// record says of the fields of one type, by their names in Go, what becomes of them. A field that
// holds records which are described here, and that isn't named, is looked into. Any other that
// isn't kept is removed; a test wants each of those named too, so that nobody adds a field without
// saying which it is.
type record struct {
	keeps   []string // stays as it is
	removes []string // a text reads RedactedText from then on, a value RedactedValue, a map keeps its names; anything else is gone
	blanks  []string // texts that are gone, since records are found by them
	codes   []string // "code: message", of which the code stays
}

var records = map[reflect.Type]record{
	reflect.TypeFor[countersign.Run](): {
		keeps: []string{"ID", "PlanID", "Status", "Mode", "Revision", "WaitingFor", "CancelRequested", "UnverifiedSteps", "MayHaveHappened", "PlanDigest", "AgentID", "TeamID",
			"ApprovalID", "RestoredAt", "OpenAlike", "RequestedBy", "RequestedByName", "Identity", "OnBehalfOf", "IdempotencyKey", "CreatedAt", "UpdatedAt", "CompletedAt", "Hold", "Redacted"},
		removes: []string{"Reason", "AgentWords"},
		codes:   []string{"Error"},
	},
	reflect.TypeFor[countersign.StepRun](): {
		keeps: []string{"ID", "Name", "ProjectID", "Capability", "ActionID", "AgentID", "DependsOn", "Status", "Attempt", "SideEffect", "ApprovalRequired", "WouldBe", "IdempotencyKey",
			"RequestDigest", "ApprovalID", "AnsweredBy", "Questions", "AskedFrom", "NextAt", "SettledBy", "MayHaveHappened", "StartedAt", "CompletedAt", "Looking", "AskedAgain", "StateDigest"},
		removes: []string{"Input", "Output"},
	},
	reflect.TypeFor[countersign.Request]():  {keeps: []string{"Method"}, removes: []string{"URL", "Query", "Body", "Headers"}},
	reflect.TypeFor[countersign.Response](): {keeps: []string{"StatusCode", "Bytes", "DurationMs", "BodySHA256"}, removes: []string{"Body", "Signed", "RetryAfter"}},
	reflect.TypeFor[countersign.Verification](): {
		keeps: []string{"Status", "Field", "StatusCode"}, removes: []string{"Expected", "Actual"},
	},
	reflect.TypeFor[countersign.ExpectationCheck](): {keeps: []string{"Status", "Field"}, removes: []string{"Expected", "Actual"}},
	reflect.TypeFor[countersign.Reconciliation]():   {keeps: []string{"Resolution", "By", "ByName", "At"}, removes: []string{"Evidence"}},
	reflect.TypeFor[countersign.Discrepancy]():      {keeps: []string{"Field"}, removes: []string{"Sent", "Found"}},
	reflect.TypeFor[countersign.LateAnswer]():       {keeps: []string{"At", "Attempt"}, removes: []string{"Output", "Error"}},
	reflect.TypeFor[countersign.ProbeRecord]():      {keeps: []string{"N", "By", "ByName", "At", "Capability"}, removes: []string{"Output", "Error"}},
	reflect.TypeFor[countersign.StepError]():        {keeps: []string{"Code"}, removes: []string{"Message"}},
	reflect.TypeFor[countersign.SettlementRecord](): {
		keeps:   []string{"N", "State", "Said", "At", "Since", "StatusCode", "Valid", "KeyID", "Signature", "Withdrawing"},
		removes: []string{"Output", "Text", "Error", "Target", "Signed"},
	},

	reflect.TypeFor[countersign.State]():       {keeps: []string{"Capability", "RequestDigest", "StatusCode", "At"}, removes: []string{"Values"}},
	reflect.TypeFor[countersign.StateChange](): {keeps: []string{"Field"}, removes: []string{"Then", "Now"}},
	reflect.TypeFor[countersign.Look](): {
		keeps:   []string{"N", "By", "ByName", "At", "Capability", "RequestDigest", "StatusCode", "StateDigest"},
		removes: []string{"Values", "Error"},
	},
	reflect.TypeFor[countersign.WouldCheck](): {keeps: []string{"Capability", "Fields"}, removes: []string{"When"}},

	reflect.TypeFor[countersign.Approval](): {
		keeps: []string{"ID", "RunID", "StepID", "Status", "PlanID", "ProjectID", "Capability", "Attempt", "RequestDigest", "Sources", "Same", "RequestedBy", "RequestedByName", "Identity",
			"OnBehalfOf", "BehindUnknown", "RequestedAt", "ExpiresAt", "RestoredAt", "OpenAlike", "AskedAgainAfter", "DecidedAt", "DecidedBy", "DecidedByName", "ApprovalsNeeded", "Groups",
			"Escalations", "DecisionAssertion", "RequestedByMakers", "DecidedByMakers", "SharedMaker", "RedactedAt", "StateDigest", "AskedAgain", "PreviousID", "Superseded", "RequesterRecord", "SuggestedFrom"},
		removes: []string{"InputSnapshot", "Usual", "Expectation", "RunReason", "AgentWords", "DecisionReason", "SuggestedInput", "Reasons"},
		blanks:  []string{"Title"},
	},
	// What a passkey signed is a digest of the decision, and of its reason, which stands in the log.
	reflect.TypeFor[countersign.GivenDecision](): {
		keeps:   []string{"Decision", "By", "ByName", "ByMakers", "Groups", "At", "OnBehalfOf", "Escalated", "Assertion", "Left", "StateDigest", "Via"},
		removes: []string{"Reason"},
	},

	// What the models and projects of a plan say is theirs: it stays in their revisions, too.
	reflect.TypeFor[countersign.Plan](): {
		keeps: []string{"ID", "Status", "Name", "Mode", "ModelID", "ModelRevision", "ScenarioID", "Team", "ValidationErrors", "PlanDigest", "Projects", "ModelSnapshot", "ProjectSnapshots",
			"Models", "Gate", "CreatedBy", "CreatedByName", "CreatedAt", "RedactedAt"},
		removes: []string{"PlanningInputs"},
	},
	reflect.TypeFor[countersign.Step](): {
		keeps:   []string{"ID", "Name", "ProjectID", "Capability", "ActionID", "AgentID", "DependsOn", "InputBindings"},
		removes: []string{"Input"},
	},
	reflect.TypeFor[countersign.Expectation](): {keeps: []string{"Field", "StatusCode"}, removes: []string{"Equals"}},
	reflect.TypeFor[countersign.PlanAgent](): {
		keeps:   []string{"ID", "ProjectID", "Revision", "SourceRevision", "ModelID", "ModelRevision"},
		removes: []string{"ExecutorInputs"},
	},
}
