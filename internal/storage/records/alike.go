package records

import (
	"strings"
	"time"

	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/storage/store"
)

// Mark says what a run is, where it is looked for by something else than its id. It is a hint:
// the run says whether it still is so.
type Mark struct {
	RunID string    `json:"runId"`
	Since time.Time `json:"since"`
}

// Marks are kept with the run's own change.
var Marks = store.Collection[Mark]{Table: store.Meta}

// OpenCallID is the mark of a run whose outcome nobody knows, by what its call is found by.
func OpenCallID(digest, runID string) string { return "alike/" + digest + "/" + runID }

// OpenCallsOf are the marks of a call.
func OpenCallsOf(digest string) []store.Filter {
	return idRange("alike/"+digest+"/", "alike/"+digest+"0") // '0' follows '/'
}

// AskingID is the mark of an agent's run that waits for an approval, or will.
func AskingID(agentID, runID string) string { return "asking/" + agentID + "/" + runID }

// AskingOf are the marks of an agent.
func AskingOf(agentID string) []store.Filter {
	return idRange("asking/"+agentID+"/", "asking/"+agentID+"0") // '0' follows '/'
}

// RunOfMark is the run of a mark.
func RunOfMark(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// RejectedCall has the latest rejections of a call.
type RejectedCall struct {
	Rejections []repeat.Rejection `json:"rejections"`
}

// RejectedCalls are found by what the call is found by.
var RejectedCalls = store.Collection[RejectedCall]{Table: store.Meta}

const firstRejectedCall = "rejected/"

// RejectedCallID is the id of the record of a call.
func RejectedCallID(digest string) string { return firstRejectedCall + digest }

// RejectedCallsAfter are the records that follow that of a call.
func RejectedCallsAfter(digest string) []store.Filter {
	return idRange(firstRejectedCall+digest, "rejected0") // '0' follows '/'
}
