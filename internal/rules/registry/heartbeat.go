package registry

import (
	"time"

	"github.com/countersign/countersign"
)

// Beat applies a heartbeat that arrived at `at` to its instance; last is nil for a new
// instance. The checks are in this order (contract 7): an exact duplicate of the last
// heartbeat is acknowledged and refreshes nothing, however old; a sequence number that
// was used or passed is a sequence_conflict; a clock that is off by more than 120 s is
// an invalid_request.
func Beat(last *countersign.Instance, h countersign.Heartbeat, at time.Time) (next countersign.Instance, duplicate bool, err error) {
	if last != nil {
		switch {
		case h.Sequence == last.Sequence && stateOf(h) == last.State && sameInstant(h.Timestamp, last.Timestamp):
			return *last, true, nil
		case h.Sequence <= last.Sequence:
			return *last, false, countersign.RefusedAt(countersign.CodeSequenceConflict, "sequence", "instance %s has used %d already; the next is above it", h.InstanceID, last.Sequence)
		}
	}
	sent, err := countersign.ParseInstant(h.Timestamp)
	if err != nil {
		return countersign.Instance{}, false, countersign.Invalid("timestamp", "%s", err)
	}
	if away := sent.Sub(at).Abs(); away > countersign.HeartbeatWindow {
		return countersign.Instance{}, false, countersign.Errorf(countersign.CodeInvalidRequest,
			"timestamp: it is %s from the server's %s; set the instance's clock, at most %s away", distance(away), at.Format(time.RFC3339), countersign.HeartbeatWindow)
	}
	shown, _ := countersign.RFC3339(h.Timestamp) // it is a time
	return countersign.Instance{InstanceID: h.InstanceID, Sequence: h.Sequence, State: stateOf(h), Timestamp: shown, ReceivedAt: at}, false, nil
}

// distance words a clock difference. A year or more is not given exactly, because a
// duration holds at most 292 years.
func distance(away time.Duration) string {
	const most = 365 * 24 * time.Hour
	if away > most {
		return "more than a year"
	}
	return away.Round(time.Second).String()
}

// stateOf is the state that is kept: ONLINE is another word for IDLE (contract 12.1).
func stateOf(h countersign.Heartbeat) countersign.InstanceState {
	if h.State == countersign.InstanceOnline {
		return countersign.InstanceIdle
	}
	return h.State
}

// sameInstant compares times by what they name, and not by how they are written.
func sameInstant(a, b string) bool {
	s, errA := countersign.ParseInstant(a)
	t, errB := countersign.ParseInstant(b)
	return a == b || errA == nil && errB == nil && s.Equal(t)
}

// CheckHeartbeat validates a heartbeat by itself, without the earlier ones.
func CheckHeartbeat(h countersign.Heartbeat) []countersign.Problem {
	var problems []countersign.Problem
	if hasControl(h.InstanceID) {
		problems = append(problems, countersign.Problem{Path: "instanceId", Code: "bad_id", Message: "must not hold control characters"})
	}
	if _, err := countersign.ParseInstant(h.Timestamp); err != nil {
		problems = append(problems, countersign.Problem{Path: "timestamp", Code: "bad_time", Message: "must be " + countersign.WantedInstant})
	}
	return problems
}
