package crash

import (
	"slices"

	"github.com/countersign/countersign/test/harness"
)

// look waits until nothing moves, and compares R with A, and both with what was promised and seen. inFlight are the
// deliveries that the receiver had not begun to answer when the process died.
func (l *life) look(inFlight []*delivery) {
	l.t.Helper()
	l.settle()
	r := slices.Concat(l.before, l.shop.deliveries(l.from)) // read before A, which must already know everything in R
	if err := l.picture.take(l.bed); err != nil {
		l.fault("%v", err)
	}
	l.checkRuns()
	l.checkApprovals()
	l.checkInFlight(inFlight, r)
	l.checkDeliveries(r)
	l.checkRecords()
	l.checkPromises(false)
	l.checkSeen()
	for _, b := range l.beaters {
		b.check()
	}
}

// checkRuns checks S1, S2, and that each key has one run.
func (l *life) checkRuns() {
	keys := map[string]string{}
	for id, run := range l.picture.runs {
		key := run.At("idempotencyKey").Text()
		if other := keys[key]; other != "" {
			l.fault("S3: runs %s and %s have the key %s", id, other, key)
		}
		keys[key] = id
		l.checkRun(id, run)
	}
}

func (l *life) checkRun(id string, run json) {
	status := run.At("status").Text()
	switch {
	case status == "READY" || status == "RUNNING":
		l.fault("run %s is %s and stands still: %s", id, status, run)
	case !ended(status) && run.At("waitingFor.kind").Text() == "":
		l.fault("S1: run %s is %s and doesn't say what it waits for", id, status)
	}
	for _, s := range run.At("steps").Items() {
		l.checkStep(id, run, s)
	}
}

func (l *life) checkStep(id string, run, s json) {
	status, verified := s.At("status").Text(), s.At("verification.status").Text()
	reconciled := s.At("reconciliation.resolution").Text() == "CONFIRMED_COMPLETED"
	open := status == "PENDING" || status == "RUNNING" || status == "WAITING_APPROVAL" || status == "RECOVERY_REQUIRED"
	live, sideEffect := run.At("mode").Text() == "LIVE", s.At("sideEffect").String() == "true"
	switch {
	case s.At("idempotencyKey").Text() != id+"."+s.At("id").Text():
		l.fault("D2: %s of run %s", s, id)
	case status == "RUNNING":
		l.fault("S2: run %s stands still and a step is RUNNING: %s", id, s)
	case status == "COMPLETED" && verified != "PASSED" && verified != "NOT_REQUESTED" && !reconciled:
		l.fault("S1: a step of run %s is COMPLETED and neither verified nor reconciled: %s", id, s)
	case run.At("status").Text() == "COMPLETED" && live && status != "COMPLETED":
		l.fault("S1: run %s is COMPLETED and has the step %s", id, s)
	case run.At("status").Text() == "COMPLETED" && !live && status != "SIMULATED":
		l.fault("D4: rehearsal %s is COMPLETED and has the step %s", id, s)
	case status == "RECOVERY_REQUIRED" && !sideEffect:
		l.fault("S2: a read of run %s is RECOVERY_REQUIRED: %s", id, s)
	case ended(run.At("status").Text()) && open:
		l.fault("S1: run %s has ended and has the step %s", id, s)
	}
}

// checkApprovals: every waiting run has an existing approval with an unchanged expiry; every PENDING approval has a
// waiting run.
func (l *life) checkApprovals() {
	for id, run := range l.picture.runs {
		if run.At("waitingFor.kind").Text() != "approval" {
			continue
		}
		a := l.picture.approvals[run.At("waitingFor.approvalId").Text()]
		if a.At("status").Text() != "PENDING" || a.At("runId").Text() != id || a.At("expiresAt").Text() != run.At("waitingFor.expiresAt").Text() {
			l.fault("run %s waits for %s; its approval is %s", id, run.At("waitingFor"), a)
		}
	}
	for id, a := range l.picture.approvals {
		run := l.picture.runs[a.At("runId").Text()]
		if a.At("status").Text() == "PENDING" && run.At("waitingFor.approvalId").Text() != id {
			l.fault("approval %s is PENDING; its run is %s and waits for %s", id, run.At("status"), run.At("waitingFor"))
		}
	}
}

// checkInFlight: a side effect in flight when the process died waits for a person, unless one has already reconciled
// it.
func (l *life) checkInFlight(inFlight, r []*delivery) {
	arrived := map[string]int{}
	for _, d := range r {
		arrived[d.key()]++
	}
	for _, d := range inFlight {
		if !d.sideEffect() || arrived[d.key()] <= l.picture.log.judged[d.key()] {
			continue
		}
		run := l.picture.runs[d.runID()]
		if s := stepOf(run, d.stepID()); run.At("status").Text() != "RECOVERY_REQUIRED" || s.At("status").Text() != "RECOVERY_REQUIRED" {
			l.fault("S2: %s was on its way when the service died; its run is %s: %s", d.key(), run.At("status"), s)
		}
	}
}

func hasLateAnswer(run harness.JSON) bool {
	return slices.ContainsFunc(run.At("steps").Items(), func(s harness.JSON) bool { return s.At("late").Exists() })
}

// checkSeen: a run that was seen ended has not changed, except for a late answer, and an approval that was seen
// PENDING still asks for the same.
func (l *life) checkSeen() {
	for id, was := range l.seen.ended {
		is := l.picture.runs[id]
		if is.At("status").Text() != was.At("status").Text() || is.At("revision").Int() != was.At("revision").Int() && !hasLateAnswer(is) {
			l.fault("S1: run %s had ended as %s at revision %s and is %s at %s", id, was.At("status"), was.At("revision"), is.At("status"), is.At("revision"))
		}
	}
	for id, was := range l.seen.waiting {
		is := l.picture.approvals[id]
		for _, field := range []string{"runId", "stepId", "requestedAt", "expiresAt", "requestDigest", "attempt"} {
			if is.At(field).String() != was.At(field).String() {
				l.fault("A1: approval %s had the %s %s and has %s", id, field, was.At(field), is.At(field))
			}
		}
	}
}
