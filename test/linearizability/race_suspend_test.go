package linearizability

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// stoppable is a run of two steps, and a way to prevent the second.
type stoppable struct {
	run     countersign.Run
	stop    func() error
	undo    func() error
	subject string // the audit subject of the suspension
	action  string
	code    countersign.Code // of the run's error if the suspension came first
}

// TestASuspensionAgainstTheNextStep: the first step's answer and a suspension of a part of the plan are concurrent. The next
// step is sent before the suspension is stored, or never.
func TestASuspensionAgainstTheNextStep(t *testing.T) {
	race(t, wide, 1, func(h *fixture, n int) {
		s := []func(*fixture) stoppable{stoppedByModel, stoppedByTeam, stoppedByProject}[n%3](h)
		h.must(h.receiver.await(call(&s.run), 1))
		errs := all(2, func(i int) error {
			if i == 0 {
				h.receiver.release(call(&s.run), 1, good())
				return nil
			}
			return s.stop()
		})
		h.must(errs[1])
		is, err := h.await(s.run.ID, ended)
		h.must(err)
		h.wantSentBeforeOrNever(is, s)
		h.must(s.undo())
	})
}

func nothing() error { return nil }

func stoppedByModel(h *fixture) stoppable {
	h.t.Helper()
	id := newID("model")
	_, err := h.control.PutModel(background(), ada, id, modelWrite(id, "Model", 0))
	h.must(err)
	out, err := h.control.StartRun(background(), ann, countersign.RunStart{PlanID: h.plan(id, countersign.ModeLive, step("pay", pay), step("note", note, "pay"))}, newID("key"))
	h.must(err)
	stop := func() error {
		_, err := h.control.SuspendModel(background(), ada, id, "a rest")
		return err
	}
	return stoppable{out.Run, stop, nothing, "model/" + id, "models.suspend", countersign.CodeDrift}
}

func stoppedByTeam(h *fixture) stoppable {
	h.t.Helper()
	id := newID("team")
	_, err := h.control.PutTeam(background(), ada, id, teamWrite("Team", 0, pay, note))
	h.must(err)
	out, err := h.control.StartTeamRun(background(), ann, id, countersign.TeamRunStart{ExpectedRevision: 1, Mode: countersign.ModeLive}, newID("key"))
	h.must(err)
	stop := func() error {
		_, err := h.control.SuspendTeam(background(), ada, id, "a rest")
		return err
	}
	return stoppable{out.Run, stop, nothing, "team/" + id, "teams.suspend", countersign.CodeDrift}
}

// stoppedByProject disables the project, which keeps its revision and so is no drift.
func stoppedByProject(h *fixture) stoppable {
	h.t.Helper()
	out, err := h.control.StartRun(background(), ann, countersign.RunStart{PlanID: h.livePlan(step("pay", pay), step("note", note, "pay"))}, newID("key"))
	h.must(err)
	toggle := countersign.Toggle{ExpectedRevision: 1}
	stop := func() error {
		_, err := h.control.DisableProject(background(), ada, shop, toggle)
		return err
	}
	undo := func() error {
		_, err := h.control.EnableProject(background(), ada, shop, toggle)
		return err
	}
	return stoppable{out.Run, stop, undo, "project/" + shop, "projects.toggle", countersign.CodeProjectDisabled}
}

// wantSentBeforeOrNever compares the positions of both in the log, which has the order of commits.
func (f *fixture) wantSentBeforeOrNever(r countersign.Run, s stoppable) {
	f.t.Helper()
	second := len(r.Steps) - 1
	stopped := f.seq(s.subject, s.action, "")
	sent := f.seq("run/"+r.ID, "step.send", r.Steps[second].ID)
	delivered := len(f.receiver.deliveries(r.Steps[second].IdempotencyKey))
	switch {
	case r.Status == countersign.RunCompleted && sent < stopped && delivered == 1:
	case r.Status == countersign.RunFailed && sent < 0 && delivered == 0 && strings.HasPrefix(r.Error, string(s.code)+":"):
	default:
		f.t.Errorf("%s was stopped at %d of the log; run %s, sent at %d and delivered %d times, is %s", s.subject, stopped, r.ID, sent, delivered, picture(&r))
	}
}

// TestASuspensionAgainstADecision: an agent's run is approved while the agent is
// suspended.
func TestASuspensionAgainstADecision(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		id := agentID("payer")
		a, err := h.control.AdmitAgent(background(), ada, id, countersign.Admission{Reason: "known"})
		h.must(err)
		out, err := h.control.StartAgentRun(background(), ann, id, agentStart(a.Revision, refund), newID("key"))
		h.must(err)
		r, err := h.await(out.Run.ID, func(r *countersign.Run) bool { return r.ApprovalID != "" })
		h.must(err)
		errs := all(2, func(i int) error {
			if i == 0 {
				return h.decide(0, r.ApprovalID, countersign.ApprovalApproved)
			}
			_, err := h.control.SuspendAgent(background(), ada, id, countersign.Admission{Reason: "a rest"})
			return err
		})
		h.must(errs[0])
		h.must(errs[1])
		is, err := h.await(r.ID, ended)
		h.must(err)
		h.wantSentBeforeOrNever(is, stoppable{subject: "agent/" + id, action: "agents.suspend", code: countersign.CodeDrift})
	})
}
