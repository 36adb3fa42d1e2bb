package linearizability

import (
	"fmt"

	"github.com/countersign/countersign"
)

// A registered agent is what its newest manifest says; an ADMIN admits and suspends it.

// agentState is the state; revision 0 means that the agent was never registered.
type agentState struct {
	revision  int64
	source    int64 // the manifest's revision
	content   string
	admitted  bool
	suspended bool
}

// agentOp is an operation on an agent; expected -1 means any revision.
type agentOp struct {
	what     string // sync, read, admit, suspend
	source   int64
	content  string
	expected int64
}

func (o agentOp) String() string {
	if o.what == "sync" {
		return fmt.Sprintf("sync %q at %d", o.content, o.source)
	}
	return fmt.Sprintf("%s over %d", o.what, o.expected)
}

// agentAnswer is an answer; for a sync only its code, since the agent in it is recorded as a read.
type agentAnswer struct {
	answer
	agentState
}

func (a agentAnswer) String() string { return fmt.Sprintf("%s %+v", a.code, a.agentState) }

var agentSpec = spec[agentState, agentOp, agentAnswer]{
	next: func(s agentState, in agentOp, _ agentAnswer) (agentState, agentAnswer) {
		if in.what == "sync" {
			return syncAgent(s, in)
		}
		switch {
		case s.revision == 0:
			return s, agentAnswer{answer: answer{countersign.CodeNotFound}}
		case in.what != "read" && in.expected >= 0 && in.expected != s.revision:
			return s, agentAnswer{answer{countersign.CodeRevisionConflict}, agentState{revision: s.revision}}
		case in.what == "admit":
			s.admitted, s.suspended = true, false
		case in.what == "suspend" && !s.suspended:
			s.revision++
			s.admitted, s.suspended = false, true
		}
		return s, agentAnswer{agentState: s}
	},
}

// syncAgent: a newer manifest makes the agent PENDING and keeps a suspension; the same manifest changes nothing.
func syncAgent(s agentState, in agentOp) (agentState, agentAnswer) {
	switch {
	case s.revision == 0 || in.source > s.source:
		return agentState{revision: s.revision + 1, source: in.source, content: in.content, suspended: s.suspended}, agentAnswer{}
	case in.source == s.source && in.content == s.content:
		return s, agentAnswer{}
	default:
		return s, agentAnswer{answer: answer{countersign.CodeManifestConflict}}
	}
}
