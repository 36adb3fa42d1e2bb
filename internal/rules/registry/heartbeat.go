package registry

import (
	"errors"
	"strings"
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
		case h.Sequence == last.Sequence && h.State == last.State && h.Timestamp == last.Timestamp:
			return *last, true, nil
		case h.Sequence <= last.Sequence:
			return *last, false, countersign.Errorf(countersign.CodeSequenceConflict, "sequence: instance %s has used %d already; the next is above it", h.InstanceID, last.Sequence)
		}
	}
	sent, err := instant(h.Timestamp)
	if err != nil {
		return countersign.Instance{}, false, countersign.Errorf(countersign.CodeInvalidRequest, "timestamp: it must be a time such as 2026-11-21T09:17:47Z")
	}
	if away := sent.Sub(at).Abs(); away > countersign.HeartbeatWindow {
		return countersign.Instance{}, false, countersign.Errorf(countersign.CodeInvalidRequest,
			"timestamp: it is %s from the server's %s; set the instance's clock, at most %s away", distance(away), at.Format(time.RFC3339), countersign.HeartbeatWindow)
	}
	return countersign.Instance{InstanceID: h.InstanceID, Sequence: h.Sequence, State: h.State, Timestamp: h.Timestamp, ReceivedAt: at}, false, nil
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

// instant parses a time as the API document defines it. Go's parser also accepts a
// comma before the fraction.
func instant(text string) (time.Time, error) {
	if strings.Contains(text, ",") {
		return time.Time{}, errors.New("a comma has no place in a time")
	}
	return time.Parse(time.RFC3339, text)
}

// CheckHeartbeat validates a heartbeat by itself, without the earlier ones.
func CheckHeartbeat(h countersign.Heartbeat) []countersign.Problem {
	var problems []countersign.Problem
	if hasControl(h.InstanceID) {
		problems = append(problems, countersign.Problem{Path: "instanceId", Code: "bad_id", Message: "must not hold control characters"})
	}
	if _, err := instant(h.Timestamp); err != nil {
		problems = append(problems, countersign.Problem{Path: "timestamp", Code: "bad_time", Message: "must be a time such as 2026-11-21T09:17:47Z"})
	}
	return problems
}
