package registry

import (
	"time"

	"github.com/countersign/countersign"
)

// Evidence is the newest time that an agent's instances were heard in each
// state; a state that no instance is in has none.
type Evidence map[countersign.InstanceState]time.Time

// worstFirst is the order in which states stand for the whole agent.
var worstFirst = []struct {
	state countersign.InstanceState
	is    countersign.Liveness
}{
	{countersign.InstanceError, countersign.LivenessError},
	{countersign.InstanceBusy, countersign.LivenessBusy},
	{countersign.InstanceIdle, countersign.LivenessOnline},
}

// Liveness is what the evidence says now: the worst state that an instance was
// heard in within 120 s, STALE when all is older, UNKNOWN without any
// (specification 3.2). heard is the newest time of all.
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

// InstanceLiveness is what one instance's last heartbeat says now.
func InstanceLiveness(i countersign.Instance, now time.Time) countersign.Liveness {
	is, _ := Liveness(Evidence{i.State: i.ReceivedAt}, now)
	return is
}
