package simulation

import (
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/store"
)

// log is the content of a tenant's audit log from its beginning: the state of all subjects, every intent, and what each request did.
type log struct {
	read      int64
	standing  map[string]stand // by subject
	intents   map[string][]intent
	reopened  map[string]int      // CONFIRMED_NOT_EXECUTED by run and step
	approved  map[string][]intent // decisions that approved, by run and step
	byRequest map[string][]countersign.AuditRecord
	spent     map[string][]sending // of budgets, by project and capability
	stopped   bool                 // LIVE steps are
}

type stand struct {
	revision  int
	suspended bool
	enabled   bool
}

// intent is a step.send record: the step was committed as sent.
type intent struct {
	seq    int64
	at     time.Time
	digest string
}

func newLog() *log {
	return &log{standing: map[string]stand{}, intents: map[string][]intent{}, reopened: map[string]int{}, approved: map[string][]intent{}, spent: map[string][]sending{}, byRequest: map[string][]countersign.AuditRecord{}}
}

// readLog reads the new records in order, and checks each against the earlier ones.
func (s *sim) readLog(tenant string, p *picture) {
	l := s.seen.logs[tenant]
	fresh := s.records(tenant, l.read, "")
	for _, rec := range fresh {
		if rec.Seq != l.read {
			s.fail("A2: the audit log of %s has record %d at place %d", tenant, rec.Seq, l.read)
			return
		}
		l.read++
		s.counts(tenant, rec)
		if rec.RequestID != "" {
			l.byRequest[rec.RequestID] = append(l.byRequest[rec.RequestID], rec)
		}
		if rec.Outcome == countersign.AuditDone {
			s.takeIn(tenant, l, p, rec)
		}
	}
	s.compareAnswers(tenant, l)
}

// records lists the log from a sequence number on, optionally for one subject.
func (s *sim) records(tenant string, from int64, subject string) (list []countersign.AuditRecord) {
	q := store.Query{Where: []store.Filter{{Column: "seq", Op: store.AtLeast, Values: []any{from}}}, Order: []store.Order{{Column: "seq"}}}
	if subject != "" {
		q.Where = append(q.Where, store.Equal("subject", subject))
	}
	err := s.disk.rows.View(background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Audit, tenant, q)
		for _, row := range rows {
			list = append(list, decoded[countersign.AuditRecord](s, store.Audit, tenant, row, &err))
		}
		return err
	})
	if err != nil {
		s.fail("A2: the audit log of %s can't be read: %v", tenant, err)
	}
	return list
}

func (s *sim) takeIn(tenant string, l *log, p *picture, rec countersign.AuditRecord) {
	kind, id, _ := strings.Cut(rec.Subject, "/")
	switch {
	case kind == "tenant" && (rec.After == "STOPPED" || rec.After == "GOING"):
		l.stopped = rec.After == "STOPPED"
	case rec.Action == "step.send":
		if l.stopped {
			s.fail("D3: step %s of run %s was sent while the tenant was stopped", rec.Step, id)
		}
		s.judgeIntent(tenant, l, p, id, rec)
	case rec.Action == "step.deny" && s.turns <= 1:
		if r := p.run(id); r != nil && r.Error == string(countersign.CodeDeniedByBudget)+": enough for now" {
			st := stepOf(&r.Run, rec.Step)
			s.deny(l, st.ProjectID+"/"+st.Capability, st.IdempotencyKey, rec.At)
		}
	case rec.Action == "approvals.decide" && rec.After == string(countersign.ApprovalApproved):
		l.approved[id+"."+rec.Step] = append(l.approved[id+"."+rec.Step], intent{rec.Seq, rec.At, rec.Digest})
	case rec.Action == "runs.reconcile" && strings.HasPrefix(rec.Reason, countersign.ConfirmedNotExecuted):
		l.reopened[id+"."+rec.Step]++
	case rec.Action == "projects.toggle":
		now := l.standing[rec.Subject]
		now.enabled = rec.After == "enabled"
		l.standing[rec.Subject] = now
	case kind == "model" || kind == "agent" || kind == "team" || rec.Action == "projects.write":
		s.judgeRevision(l, rec)
	}
}

// judgeRevision: a revision increases by one with each write and suspension, and not with a resume or admission (S4).
func (s *sim) judgeRevision(l *log, rec countersign.AuditRecord) {
	was := l.standing[rec.Subject]
	now := stand{suspended: strings.Contains(rec.After, "suspended")}
	if _, err := fmt.Sscanf(rec.After, "revision %d", &now.revision); err != nil {
		s.fail("A2: the record of %s says %q and no revision", rec.Subject, rec.After)
	}
	before := 0
	_, _ = fmt.Sscanf(rec.Before, "revision %d", &before)
	rises := 1
	if strings.HasSuffix(rec.Action, ".resume") || rec.Action == "agents.admit" {
		rises = 0
	}
	if before != was.revision || now.revision != was.revision+rises {
		s.fail("S4: %s of %s went from %q (log: %d) to %q", rec.Action, rec.Subject, rec.Before, was.revision, rec.After)
	}
	l.standing[rec.Subject] = now
}

// judgeIntent: at the intent nothing from which the plan was made had changed or was suspended, and every project was enabled (D3).
func (s *sim) judgeIntent(tenant string, l *log, p *picture, runID string, rec countersign.AuditRecord) {
	key := runID + "." + rec.Step
	l.intents[key] = append(l.intents[key], intent{rec.Seq, rec.At, rec.Digest})
	r := p.run(runID)
	if r == nil {
		s.fail("A3: step %s of run %s was sent, and the run is not there", rec.Step, runID)
		return
	}
	made := p.plan(r.PlanID)
	for _, subject := range plan.Subjects(&made.Plan) {
		now := l.standing[subject.Kind+"/"+subject.ID]
		if int64(now.revision) != subject.Revision || now.suspended {
			s.fail("D3: %s was sent when %s %s stood at %+v; the plan saw revision %d", key, subject.Kind, subject.ID, now, subject.Revision)
		}
		if subject.Kind == plan.KindProject && !now.enabled {
			s.fail("D3: %s was sent while project %s was disabled", key, subject.ID)
		}
	}
	if s.turns <= 1 { // a day has rules of its own
		s.judgeGate(tenant, l, p, r, made, rec)
	}
	if got := len(l.intents[key]); stepOf(&r.Run, rec.Step).SideEffect && got > 1+l.reopened[key] {
		s.fail("D1: %s was sent %d times with %d CONFIRMED_NOT_EXECUTED", key, got, l.reopened[key])
	}
}

// compareAnswers: a successful change left exactly one audit record, a refusal of a known principal one that says so, and everything else
// none (A2). A request that got no answer may have left one.
func (s *sim) compareAnswers(tenant string, l *log) {
	s.mu.Lock()
	answers := map[string]answer{}
	for id, a := range s.known.answers {
		if a.tenant == tenant {
			answers[id] = a
			delete(s.known.answers, id)
		}
	}
	s.mu.Unlock()
	counts := map[string][3]int{}
	for id, a := range answers {
		done, refused := 0, 0
		for _, rec := range l.byRequest[id] {
			switch {
			case rec.Outcome != countersign.AuditDone:
				refused++
				if a.code != "" && rec.Outcome != countersign.AuditRefused+": "+string(a.code) && a.code != countersign.CodeInternal { // in doubt
					s.fail("A2: %s was answered %s and recorded %q", a.what, a.code, rec.Outcome)
				}
			case rec.Action == string(access.CheckHealth) && strings.HasPrefix(rec.Reason, "of revision ") && a.code == countersign.CodeRevisionConflict:
				refused++ // the check was made, and its record says that it is of an earlier revision
			case rec.Action == a.main:
				done++
			}
		}
		if refused == 1 {
			s.known.first(a)
		}
		counts[id] = [3]int{done, refused, len(l.byRequest[id])}
	}
	clear(l.byRequest)           // a request's records are in one commit
	for id, a := range answers { // after the first refusals of each minute are known
		s.judgeRecords(a, counts[id][0], counts[id][1], counts[id][2])
	}
}

// foldedWithin is how long after a recorded refusal its repetitions may be counted instead of recorded: a minute, and another one if the
// store could not write at its end.
const foldedWithin = 2*time.Minute + 10*time.Second

// first notes a recorded refusal.
func (k *known) first(a answer) {
	if was, is := k.firsts[a.repeats]; !is || a.at.After(was) {
		k.firsts[a.repeats] = a.at
	}
}

// counted reports whether a refusal repeats one that the same process has recorded. While the disk is full no count can be written, and
// the minute is extended.
func (s *sim) counted(a answer) bool {
	from, is := s.known.firsts[a.repeats]
	if full := s.disk.lastFull(); full.After(from) {
		from = full
	}
	return is && a.at.Sub(from) <= foldedWithin
}

// recorded are the refusals that the log records; those of heartbeats and reads are not recorded.
var recorded = map[countersign.Code]bool{
	countersign.CodeRoleRequired: true, countersign.CodeProjectScope: true, countersign.CodeSelfApproval: true,
	countersign.CodeRevisionConflict: true, countersign.CodeIdempotencyConflict: true, countersign.CodeManifestConflict: true,
	countersign.CodeStateConflict: true, countersign.CodeModelInvalid: true, countersign.CodeProjectInUse: true, countersign.CodeProjectDisabled: true,
	countersign.CodePlanInvalid: true, countersign.CodeHealthCheckRequired: true, countersign.CodeAgentNotAdmitted: true,
	countersign.CodeApprovalExpired: true, countersign.CodeExpectationNotMet: true, countersign.CodeDrift: true,
}

func (s *sim) judgeRecords(a answer, done, refused, all int) {
	unaudited := strings.HasPrefix(a.what, "heartbeat") || strings.HasPrefix(a.what, "read")
	switch {
	case unaudited:
		if all > 0 {
			s.fail("A2: %s has %d records", a.what, all)
		}
	case a.code == "" && a.main != "" && done != 1:
		s.fail("A2: %s succeeded and has %d records of %s", a.what, done, a.main)
	case a.code == "" && refused > 0:
		s.fail("A2: %s succeeded and is recorded as refused", a.what)
	case recorded[a.code] && refused != 1 && (refused > 0 || !s.counted(a)):
		s.fail("A2: %s was refused with %s and has %d records of that", a.what, a.code, refused)
	case a.code == countersign.CodeUnavailable && done > 0 && a.main != "runs.probe": // a probe is recorded before it leaves
		s.fail("A2: %s was answered %s and has %d records", a.what, a.code, done)
	case a.code == countersign.CodeInternal && done > 1: // in doubt
		s.fail("A2: %s has %d records", a.what, done)
	case (a.code == countersign.CodeInvalidRequest || a.code == countersign.CodeNotFound || a.code == countersign.CodeCapacity) && all > 0 && !strings.HasPrefix(a.what, "enable"):
		s.fail("A2: %s was answered %s and has %d records", a.what, a.code, all)
	}
}
