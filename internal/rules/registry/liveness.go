package registry

import (
	"time"

	"github.com/countersign/countersign"
)

// Evidence is, by state, the time of the latest heartbeat of an agent's instances; a
// state without instances is absent.
type Evidence map[countersign.InstanceState]time.Time

// worstFirst is the precedence of instance states for the agent as a whole.
var worstFirst = []struct {
	state countersign.InstanceState
	is    countersign.Liveness
}{
	{countersign.InstanceError, countersign.LivenessError},
	{countersign.InstanceBusy, countersign.LivenessBusy},
	{countersign.InstanceIdle, countersign.LivenessOnline},
}

// Liveness is the worst state that an instance reported within 120 s, STALE if all
// heartbeats are older, UNKNOWN if there are none (specification 3.2). heard is the
// latest heartbeat.
func Liveness(e Evidence, now time.Time) (is countersign.Liveness, heard time.Time) {
	is = countersign.LivenessUnknown
	for _, at := range e {
		is = countersign.LivenessStale
		if at.After(heard) {
			heard = at
		}
	}
	for _, w := range worstFirst {
		if at, some := e[w.state]; some && fresh(at, now) {
			return w.is, heard
		}
	}
	return is, heard
}

func fresh(at, now time.Time) bool { return now.Sub(at) <= countersign.HeartbeatWindow }

// InstanceLiveness is the liveness of one instance by its last heartbeat.
func InstanceLiveness(i countersign.Instance, now time.Time) countersign.Liveness {
	is, _ := Liveness(Evidence{i.State: i.ReceivedAt}, now)
	return is
}
