package linearizability

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// TestAdmitAgainstSuspend: several admissions and suspensions and starts of the agent's runs, all concurrent. Each change
// continues from the one before; after a suspension no run starts and none sends anything.
func TestAdmitAgainstSuspend(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		id := agentID("payer")
		before, err := h.control.AdmitAgent(background(), ada, id, countersign.Admission{Reason: "known"})
		h.must(err)
		const starters, starts = 4, 3
		runs, told := make([]string, starters*starts), make([]error, starters*starts)
		errs := all(starters+4, func(i int) (err error) {
			switch {
			case i < starters:
				for n := i; n < len(runs); n += starters {
					var out control.Started
					out, told[n] = h.control.StartAgentRun(background(), ann, id, agentStart(before.Revision, note), newID("key"))
					runs[n] = out.Run.ID
				}
			case i%2 == 0:
				_, err = h.control.AdmitAgent(background(), ada, id, countersign.Admission{Reason: "known"})
			default:
				_, err = h.control.SuspendAgent(background(), ada, id, countersign.Admission{Reason: "a rest"})
			}
			return err
		})
		if count(errs, "") != len(errs) {
			h.t.Fatalf("the admissions and suspensions were answered %v", errs)
		}
		stopped := h.wantChain(id, before)
		for n := range runs {
			h.wantStartedBefore(runs[n], told[n], stopped)
		}
	})
}

// wantChain: each audit record of an agent continues from the one before, and the last one is the present state. It returns
// the sequence number of the first suspension since `from`.
func (f *fixture) wantChain(id string, from countersign.Agent) (stopped int64) {
	f.t.Helper()
	now, err := f.control.Agent(background(), ada, id)
	f.must(err)
	last, revision := "", int64(1)
	stopped = -1
	for _, r := range f.log("agent/" + id) {
		if r.Outcome != countersign.AuditDone {
			continue // a refused start
		}
		if last != "" && r.Before != last {
			f.t.Errorf("a record goes on from %q, the one before ended at %q", r.Before, last)
		}
		last = r.After
		if r.Action != "agents.suspend" {
			continue
		}
		if revision++; revision == from.Revision+1 {
			stopped = r.Seq
		}
	}
	is := fmt.Sprintf("revision %d, %s", now.Revision, now.Status)
	if now.Suspended {
		is = fmt.Sprintf("revision %d, suspended, %s", now.Revision, now.Status)
	}
	if now.Revision != revision || is != last || now.Suspended == (now.Status == countersign.AgentAdmitted) {
		f.t.Errorf("agent %s is %q; the log ends at %q after %d suspensions", id, is, last, revision-1)
	}
	return stopped
}

// wantStartedBefore: a run was started before the suspension, and then was sent before it or failed; or it was not started.
func (f *fixture) wantStartedBefore(runID string, told error, stopped int64) {
	f.t.Helper()
	if told != nil {
		if !oneOf(told, countersign.CodeAgentNotAdmitted, countersign.CodeRevisionConflict, countersign.CodeDrift) {
			f.t.Errorf("the start was answered %v", told)
		}
		return
	}
	r, err := f.await(runID, ended)
	f.must(err)
	started, sent := f.seq("run/"+runID, "runs.start", ""), f.seq("run/"+runID, "step.send", r.Steps[0].ID)
	switch {
	case r.Status == countersign.RunCompleted && started < stopped && sent < stopped:
	case r.Status == countersign.RunFailed && started < stopped && sent < 0:
	default:
		f.t.Errorf("the agent was suspended at %d of the log; run %s, started at %d and sent at %d, is %s", stopped, runID, started, sent, picture(&r))
	}
}
