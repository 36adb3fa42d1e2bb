package runrepo

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// Observe reports the facts of an event that has been committed.
func (l *Repository) Observe(m Moved) {
	if l.cfg.Observe != nil && len(m.facts) > 0 {
		l.cfg.Observe(m.Run.Ref.Tenant, m.facts)
	}
}

// facts derives what an event says of capabilities from the run before and after it.
func facts(before *countersign.Run, res run.Result, e run.Event, a *loadedApproval) (out []telemetry.Fact) {
	switch e := e.(type) {
	case run.Returned:
		out = returned(make([]telemetry.Fact, 0, 3), &before.Steps[e.Step], &res.Run.Steps[e.Step], e.Outcome)
	case run.Reconciled:
		out = reconciled(out, before, e.Resolution)
		out = append(out, settled(before, res.Run, telemetry.ByReviewer)...)
	case run.Asked:
		by := telemetry.ByAPI
		if e.Withdraw {
			by = telemetry.ByAPIConfirmed
		}
		out = append(out, settled(before, res.Run, by)...)
	case run.Settling:
		out = append(out, settled(before, res.Run, telemetry.ByAPIConfirmed)...)
	case run.Decided:
		if a.record.Status == countersign.ApprovalPending {
			break // others must approve too
		}
		out = append(out, telemetry.Fact{Kind: telemetry.Decided, ProjectID: a.record.ProjectID, Capability: a.record.Capability, Took: a.record.DecidedAt.Sub(a.record.RequestedAt)})
	}
	for _, i := range res.Changed {
		if s := &res.Run.Steps[i]; s.Status == countersign.StepRecoveryRequired && before.Steps[i].Status != s.Status {
			out = append(out, of(s, telemetry.Uncertain))
		}
	}
	return out
}

func of(s *countersign.StepRun, k telemetry.Kind) telemetry.Fact {
	return telemetry.Fact{Kind: k, ProjectID: s.ProjectID, Capability: s.Capability}
}

// returned derives whether the request was sent and answered and, where the answer decided
// the step, whether it was right.
func returned(out []telemetry.Fact, was, is *countersign.StepRun, o request.Outcome) []telemetry.Fact {
	if o.Certainty == request.NotSent {
		return append(out, of(is, telemetry.NotSent))
	}
	sent := of(is, telemetry.Sent)
	if o.Response != nil {
		sent.Timed, sent.Took = true, time.Duration(o.Response.DurationMs)*time.Millisecond
	}
	out = append(out, sent)
	if o.Certainty == request.Returned && o.Response != nil && o.Response.StatusCode/100 == 2 {
		out = append(out, of(is, telemetry.Answered))
	}
	if kind, decided := verdict(was, is); decided {
		out = append(out, of(is, kind))
	}
	return out
}

// verdict is how an answer decided the step, false if it didn't.
func verdict(was, is *countersign.StepRun) (telemetry.Kind, bool) {
	switch {
	case is.Status == was.Status:
		return 0, false
	case is.Status == countersign.StepCompleted && is.Verification != nil && is.Verification.Status == countersign.VerificationPassed:
		return telemetry.Verified, true
	case is.Status == countersign.StepCompleted:
		return telemetry.Unverified, true
	case is.Error == nil:
		return 0, false
	case is.Error.Code.NotAsExpected():
		return telemetry.Wrong, true
	case is.Error.Code == countersign.CodeReceiverRefused:
		return telemetry.Refused, true
	}
	return 0, false
}

// settled says by whom an unknown outcome became known, after how long and, where the receiver said
// it, what it was.
func settled(before, after *countersign.Run, by string) (out []telemetry.Fact) {
	for i := range before.Steps {
		was, is := &before.Steps[i], &after.Steps[i]
		if was.Status != countersign.StepRecoveryRequired || is.Status == was.Status {
			continue
		}
		f := of(is, telemetry.Settled)
		if f.By = by; before.WaitingFor != nil {
			f.Took = after.UpdatedAt.Sub(before.WaitingFor.Since)
		}
		out = append(out, f)
		if kind, decided := verdict(was, is); decided && by != telemetry.ByReviewer {
			out = append(out, of(is, kind))
		}
	}
	return out
}

func reconciled(out []telemetry.Fact, before *countersign.Run, resolution string) []telemetry.Fact {
	kinds := map[string]telemetry.Kind{
		countersign.ConfirmedCompleted: telemetry.ReconciledDone, countersign.ConfirmedNotExecuted: telemetry.ReconciledNotDone, countersign.Abandon: telemetry.Abandoned,
	}
	for i := range before.Steps {
		if s := &before.Steps[i]; s.Status == countersign.StepRecoveryRequired {
			return append(out, of(s, kinds[resolution]))
		}
	}
	return out
}
