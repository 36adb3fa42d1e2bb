package linearizability

import (
	"fmt"

	"github.com/countersign/countersign"
)

// An instance is what its last accepted heartbeat said. A sequence is used once; an exact duplicate of the last heartbeat
// is acknowledged and refreshes nothing.

// beatState is the state; received 0 is a time that no answer has shown yet.
type beatState struct {
	heard     bool
	sequence  int64
	state     countersign.InstanceState
	timestamp string
	received  int64
}

// beatOp is a heartbeat or a read; skewed means that its clock is too far off.
type beatOp struct {
	read      bool
	sequence  int64
	state     countersign.InstanceState
	timestamp string
	skewed    bool
}

func (o beatOp) String() string {
	if o.read {
		return "read"
	}
	return fmt.Sprintf("beat %d %s %s", o.sequence, o.state, o.timestamp)
}

// repeats reports whether it is an exact duplicate of the last heartbeat.
func (o beatOp) repeats(s beatState) bool {
	return s.heard && o.sequence == s.sequence && o.state == s.state && o.timestamp == s.timestamp
}

// beatAnswer is an answer; for a heartbeat it has the time at which the accepted one was received.
type beatAnswer struct {
	answer
	duplicate bool
	is        beatState
}

func (a beatAnswer) String() string { return fmt.Sprintf("%s %t %+v", a.code, a.duplicate, a.is) }

var beatSpec = spec[beatState, beatOp, beatAnswer]{
	next: func(s beatState, in beatOp, given beatAnswer) (beatState, beatAnswer) {
		switch {
		case in.read || in.repeats(s):
			if s.received == 0 {
				s.received = given.is.received
			}
			if in.read {
				return s, beatAnswer{is: s}
			}
			return s, beatAnswer{duplicate: true, is: beatState{received: s.received}}
		case s.heard && in.sequence <= s.sequence:
			return s, beatAnswer{answer: answer{countersign.CodeSequenceConflict}}
		case in.skewed:
			return s, beatAnswer{answer: answer{countersign.CodeInvalidRequest}}
		}
		s = beatState{true, in.sequence, in.state, in.timestamp, given.is.received}
		return s, beatAnswer{is: beatState{received: s.received}}
	},
}
