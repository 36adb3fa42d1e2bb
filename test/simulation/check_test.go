package simulation

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// seen is what earlier checks found: states that must never change again, and how far the audit log was read.
type seen struct {
	terminal map[string]string // ended runs, as JSON
	versions map[string]int64  // of an ended run's rows when it was compared
	status   map[string]countersign.RunStatus
	decided  map[string]string // decided approvals, as JSON
	expired  map[string]bool   // approvals seen expired
	logs     map[string]*log
}

func newSeen() seen {
	x := seen{terminal: map[string]string{}, versions: map[string]int64{}, status: map[string]countersign.RunStatus{}, decided: map[string]string{}, expired: map[string]bool{}, logs: map[string]*log{}}
	for _, t := range tenants {
		x.logs[t] = newLog()
	}
	return x
}

// check checks every invariant by both records. Nothing changes meanwhile.
func (s *sim) check() {
	active := 0
	for _, tenant := range tenants {
		p := s.look(tenant)
		active += s.checkTenant(tenant, &p)
	}
	s.checkLimit(active)
}

func (s *sim) checkLimit(active int) {
	if active > s.limit {
		s.fail("S3: %d runs are READY or RUNNING; the limit is %d", active, s.limit)
	}
}

// rests reports a run whose end was seen and that isn't this check's turn. What changes an ended run stays, so that in a day with
// thousands of them each is looked at anew every few minutes.
func (s *sim) rests(tenant, id string) bool {
	return s.turns > 1 && s.seen.terminal[tenant+"/"+id] != "" && (fate(id)+s.turn)%s.turns != 0
}

// holdsSlot reports whether a run is being driven.
func holdsSlot(r *records.Run) bool {
	return r.Status.IsActive() && (r.WaitingFor == nil || r.WaitingFor.Kind != countersign.WaitStop && r.WaitingFor.Kind != countersign.WaitSlot)
}

// checkTenant checks a tenant and returns how many of its runs hold a slot.
func (s *sim) checkTenant(tenant string, p *picture) (active int) {
	s.readLog(tenant, p)
	for i := range p.runs {
		r := &p.runs[i]
		if holdsSlot(r) {
			active++
		}
		if !s.rests(tenant, r.ID) {
			s.checkRun(tenant, p, r)
		}
	}
	for i := range p.approvals {
		if s.rests(tenant, p.approvals[i].RunID) {
			continue
		}
		s.checkApproval(tenant, p, &p.approvals[i])
	}
	s.checkPromises(tenant, p)
	s.checkDeliveries(tenant, p)
	return active
}

// withoutLate is a run without late answers, its steps' and its probes', which are stored in any state and change nothing else.
func withoutLate(r *records.Run) *records.Run {
	was := *r
	was.Revision, was.UpdatedAt, was.Steps = 0, time.Time{}, slices.Clone(r.Steps)
	for i := range was.Steps {
		was.Steps[i].Late, was.Steps[i].Probes = nil, nil
	}
	was.ProbeBytes = 0
	return &was
}

// checkRun checks a run and its transitions since the last check: any forward transition is possible, but none out of a final status.
func (s *sim) checkRun(tenant string, p *picture, r *records.Run) {
	id := tenant + "/" + r.ID
	was, ended := s.seen.terminal[id]
	if now := p.versions[r.ID]; (ended || r.Status.IsTerminal()) && s.seen.versions[id] != now {
		s.seen.versions[id] = now
		whole := encode(withoutLate(r))
		if ended && was != whole {
			s.fail("S1: run %s had ended and changed:\n%s\n%s", r.ID, was, whole)
		}
		s.seen.terminal[id] = whole
	}
	plan := p.plan(r.PlanID)
	if plan == nil {
		s.fail("S1: run %s is of plan %s, which is not there", r.ID, r.PlanID)
		return
	}
	for i := range r.Steps {
		s.checkStep(r, &r.Steps[i])
		s.checkReopened(tenant, r, &r.Steps[i])
		s.checkSetAside(tenant, r, &r.Steps[i])
	}
	if r.Mode == countersign.ModeDryRun {
		s.checkRehearsal(r)
	}
	if r.Status == countersign.RunWaitingApproval || r.Status == countersign.RunRecoveryRequired {
		if r.WaitingFor == nil {
			s.fail("S1: run %s is %s and doesn't say what it waits for", r.ID, r.Status)
		}
	}
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (s *sim) checkStep(r *records.Run, st *countersign.StepRun) {
	if st.IdempotencyKey != r.ID+"."+st.ID {
		s.fail("D2: step %s of %s has key %s", st.ID, r.ID, st.IdempotencyKey)
	}
	reconciled := st.Reconciliation != nil && st.Reconciliation.Resolution == countersign.ConfirmedCompleted
	verified := st.Verification != nil && (st.Verification.Status == countersign.VerificationPassed || st.Verification.Status == countersign.VerificationNotRequested)
	switch {
	case st.Status == countersign.StepCompleted && !verified && !reconciled:
		s.fail("S1: step %s of %s is COMPLETED and neither verified nor reconciled: %s", st.ID, r.ID, encode(st))
	case r.Status == countersign.RunCompleted && r.Mode == countersign.ModeLive && st.Status != countersign.StepCompleted:
		s.fail("S1: run %s is COMPLETED with step %s %s", r.ID, st.ID, st.Status)
	case st.Status == countersign.StepCompleted && st.Verification != nil && st.Verification.Status == countersign.VerificationPassed && !holds(st.Verification):
		s.fail("S1: step %s of %s passed with %s for %s", st.ID, r.ID, st.Verification.Actual.Raw(), st.Verification.Expected.Raw())
	case st.Status == countersign.StepRecoveryRequired && !st.SideEffect:
		s.fail("S2: step %s of %s is a read and RECOVERY_REQUIRED", st.ID, r.ID)
	case r.Status.IsTerminal() && (st.Status == countersign.StepPending || st.Status == countersign.StepRunning || st.Status == countersign.StepWaitingApproval || st.Status == countersign.StepRecoveryRequired):
		s.fail("S1: run %s is %s with step %s %s", r.ID, r.Status, st.ID, st.Status)
	}
}

// checkReopened: what was sent once and then confirmed as not executed may arrive late, whatever its last attempt came to. Only its completion takes
// that back.
func (s *sim) checkReopened(tenant string, r *records.Run, st *countersign.StepRun) {
	again := s.seen.logs[tenant].reopened[st.IdempotencyKey] > 0 && r.Status.IsTerminal() && st.Status != countersign.StepCompleted
	if again && (!st.MayHaveHappened || !r.MayHaveHappened) {
		s.fail("S2: run %s is %s (%s), and the first sending of step %s may still arrive: mayHaveHappened %v and %v", r.ID, r.Status, r.Error, st.ID, r.MayHaveHappened, st.MayHaveHappened)
	}
}

// holds verifies an expectation in a second, slow way: it compares canonical JSON, in which equal numbers are written alike.
func holds(v *countersign.Verification) bool {
	want, err := countersign.CanonicalDigest(v.Expected)
	if err != nil {
		return false
	}
	got, err := countersign.CanonicalDigest(v.Actual)
	return err == nil && got == want
}

func (s *sim) checkRehearsal(r *records.Run) {
	for _, st := range r.Steps {
		if r.Status == countersign.RunCompleted && st.Status != countersign.StepSimulated {
			s.fail("D4: rehearsal %s is COMPLETED with step %s %s", r.ID, st.ID, st.Status)
		}
	}
	if r.Status == countersign.RunWaitingApproval || r.Status == countersign.RunRecoveryRequired {
		s.fail("D4: rehearsal %s is %s", r.ID, r.Status)
	}
}

func (s *sim) checkApproval(tenant string, p *picture, a *records.Approval) {
	id := tenant + "/" + a.ID
	if was, decided := s.seen.decided[id]; decided || a.Status != countersign.ApprovalPending {
		whole := encode(a)
		if !decided && s.turns <= 1 {
			s.checkDeciders(tenant, a)
		}
		if decided && was != whole {
			s.fail("S1: approval %s was decided and changed:\n%s\n%s", a.ID, was, whole)
		}
		s.seen.decided[id] = whole
	}
	r := p.run(a.RunID)
	switch {
	case a.Status != countersign.ApprovalPending:
		if a.DecisionReason == "" || a.DecidedBy == "" || a.DecidedAt.IsZero() {
			s.fail("D5: approval %s is decided without who, when or why: %s", a.ID, encode(a))
		}
		if a.Status == countersign.ApprovalApproved && (a.DecidedBy == a.RequestedBy || a.DecidedBy == countersign.SystemPrincipal || a.DecidedBy == "token:tok-"+tenant && a.RequestedBy == "user:ann@"+tenant+".example") {
			s.fail("D5: approval %s was given by %s, who asked for it: %s", a.ID, a.DecidedBy, a.RequestedBy)
		}
	case r == nil || r.Status.IsTerminal():
		s.fail("S1: approval %s is PENDING and its run has ended", a.ID)
	}
}

// checkPromises: everything acknowledged exists, whatever crashed since (A1), and the state is the one in the log.
func (s *sim) checkPromises(tenant string, p *picture) {
	for _, id := range s.known.runsOf(tenant) {
		if p.run(id) == nil && !s.archived(tenant, id) {
			s.fail("A1: run %s was acknowledged and is gone", id)
		}
	}
	l := s.seen.logs[tenant]
	same := func(subject string, is stand) {
		if says := l.standing[subject]; says != is {
			s.fail("A1: %s stands at %+v; its audit log says %+v", subject, is, says)
		}
	}
	for _, m := range p.models {
		same("model/"+m.ID, stand{int(m.Revision), m.Suspended, false})
	}
	for _, h := range p.projects {
		same("project/"+h.ID, stand{int(h.Revision), false, h.Enabled})
	}
	for _, a := range p.agents {
		same("agent/"+a.ID, stand{int(a.Revision), a.Suspended, false})
	}
	for _, t := range p.teams {
		same("team/"+t.ID, stand{int(t.Revision), t.Suspended, false})
	}
}

// checkNothingIsStuck: after all faults are repaired and all decisions made, no run waits without a reason.
func (s *sim) checkNothingIsStuck() {
	for _, tenant := range tenants {
		for _, r := range s.look(tenant).runs {
			if !r.Status.IsTerminal() {
				s.fail("S1: run %s is %s at the end of all things, waiting for %s", r.ID, r.Status, encode(r.WaitingFor))
			}
		}
		var v countersign.AuditVerification
		err := s.disk.rows.View(background(), func(tx store.Tx) (err error) { v, err = audit.Verify(tx, tenant); return err })
		if err != nil || !v.Intact {
			s.fail("A2: the audit log of %s does not verify: %+v %v", tenant, v, err)
		}
	}
}
