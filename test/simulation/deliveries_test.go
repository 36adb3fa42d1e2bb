package simulation

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
)

// checkArrival checks a request when it arrives at the receiver: its intent must already be in the audit log (A3).
func (s *sim) checkArrival(d *delivery) {
	if d.probe {
		return
	}
	for _, tenant := range tenants {
		if r := s.lookAt(tenant, d.call.RunID); r != nil {
			s.judgeArrival(tenant, r, d)
			return
		}
	}
	s.fail("A3: a request of run %s arrived, which is not there", d.call.RunID)
}

func (s *sim) judgeArrival(tenant string, r *records.Run, d *delivery) {
	sent := 0
	for _, rec := range s.records(tenant, 0, "run/"+r.ID) {
		if rec.Action == "step.send" && rec.Step == d.call.StepID {
			sent++
			if want := s.digestOf(d, r); rec.Digest != want {
				s.fail("A3: the intent of %s has digest %s; what arrived has %s", d.call.IdempotencyKey, rec.Digest, want)
			}
		}
	}
	arrived := 0
	for _, other := range s.receiver.deliveries() {
		if other.call.IdempotencyKey == d.call.IdempotencyKey {
			arrived++
		}
	}
	switch st := stepOf(&r.Run, d.call.StepID); {
	case arrived > sent:
		s.fail("A3: %s arrived %d times with %d intents", d.call.IdempotencyKey, arrived, sent)
	case r.Mode != countersign.ModeLive:
		s.fail("D4: a request of rehearsal %s arrived", r.ID)
	case st == nil:
		s.fail("D2: %s is no step of run %s", d.call.StepID, r.ID)
	case d.call.IdempotencyKey != st.IdempotencyKey:
		s.fail("D2: step %s of %s was sent under key %s", st.ID, r.ID, d.call.IdempotencyKey)
	}
}

// digestOf computes the digest of a received request.
func (s *sim) digestOf(d *delivery, r *records.Run) string {
	capability := ""
	if st := stepOf(&r.Run, d.call.StepID); st != nil {
		capability = st.Capability
	}
	return request.Digest(d.call.Request, d.call.Project.ID, d.call.Project.Revision, capability)
}

// checkDeliveries compares the receiver's whole log with the store.
func (s *sim) checkDeliveries(tenant string, p *picture) {
	byKey := map[string][]*delivery{}
	byRun := map[string][]*delivery{}
	for _, d := range s.receiver.deliveries() {
		r := p.run(d.call.RunID)
		if r == nil || s.rests(tenant, r.ID) { // a run of the other tenant
			continue
		}
		if d.probe {
			s.checkProbe(r, d)
			continue
		}
		byKey[d.call.IdempotencyKey] = append(byKey[d.call.IdempotencyKey], d)
		byRun[r.ID] = append(byRun[r.ID], d)
		s.checkDelivery(tenant, p, r, d, len(byKey[d.call.IdempotencyKey]))
	}
	for key, list := range byKey {
		r := p.run(list[0].call.RunID)
		s.checkNotDenied(r, list)
		s.checkKept(r, stepOf(&r.Run, list[0].call.StepID), list)
		s.checkRepeats(tenant, key, list, stepOf(&p.run(list[0].call.RunID).Run, list[0].call.StepID).SideEffect)
	}
	for id, list := range byRun {
		s.checkOrder(p.run(id), p.plan(p.run(id).PlanID), list)
	}
}

// checkNotDenied: a run that has ended doesn't say that nothing took effect where something did, whatever its last attempt came to. What a receiver
// does and then refuses is its own lie.
func (s *sim) checkNotDenied(r *records.Run, list []*delivery) {
	st := stepOf(&r.Run, list[0].call.StepID)
	open := st.Status == countersign.StepFailed || st.Status == countersign.StepCancelled
	acted := slices.ContainsFunc(list, func(d *delivery) bool { return d.acted })
	if st.SideEffect && r.Status.IsTerminal() && open && acted && (!st.MayHaveHappened || !r.MayHaveHappened) {
		s.fail("S2: run %s is %s (%s), and step %s took effect: mayHaveHappened %v and %v", r.ID, r.Status, r.Error, st.ID, r.MayHaveHappened, st.MayHaveHappened)
	}
}

// checkProbe: a probe is a read for an uncertain step.
func (s *sim) checkProbe(r *records.Run, d *delivery) {
	if d.call.Request.Method != "GET" || !stepOf(&r.Run, d.call.StepID).SideEffect {
		s.fail("D3: probe %s is a %s", d.call.IdempotencyKey, d.call.Request.Method)
	}
}

// checkRepeats: a side effect arrives once, and once more for each audited CONFIRMED_NOT_EXECUTED, with the same target and bytes (D1).
// No two of its calls are under way at once, whatever the clocks say and whoever sends (D10).
func (s *sim) checkRepeats(tenant, key string, list []*delivery, side bool) {
	first := list[0]
	l := s.seen.logs[tenant]
	if side && len(list) > 1+l.reopened[key] {
		s.fail("D1: %s arrived %d times with %d CONFIRMED_NOT_EXECUTED", key, len(list), l.reopened[key])
	}
	for i, d := range list[1:] {
		if before := list[i]; side && (before.done.IsZero() || d.at.Before(before.done)) {
			s.fail("D10: %s arrived at %s while its sending of %s was under way", key, d.at, before.at)
		}
		if encode(d.call.Request) != encode(first.call.Request) {
			s.fail("D1: %s arrived with %s and then %s", key, encode(first.call.Request), encode(d.call.Request))
		}
	}
}

// checkDelivery: if approval is required, exactly one approval allowed this attempt, given before it, by somebody else, for exactly these
// bytes, and it hadn't expired (D5). The log says what was before what, the clock doesn't.
func (s *sim) checkDelivery(tenant string, p *picture, r *records.Run, d *delivery, nth int) {
	st := stepOf(&r.Run, d.call.StepID)
	l := s.seen.logs[tenant]
	sent := l.intents[d.call.IdempotencyKey]
	if !st.ApprovalRequired || len(sent) < nth {
		return
	}
	var let []records.Approval
	for _, a := range p.approvals {
		if a.RunID == r.ID && a.StepID == st.ID && a.Status == countersign.ApprovalApproved {
			let = append(let, a)
		}
	}
	good := 0
	for _, a := range let {
		decided := slices.IndexFunc(l.approved[d.call.IdempotencyKey], func(given intent) bool { return given.at.Equal(a.DecidedAt) && given.digest == a.RequestDigest })
		for _, i := range sent {
			if decided >= 0 && l.approved[d.call.IdempotencyKey][decided].seq < i.seq && i.at.Before(a.ExpiresAt) && a.RequestDigest == s.digestOf(d, r) && encode(a.Request) == encode(d.call.Request) {
				good++
				break
			}
		}
	}
	if good < nth {
		s.fail("D5: %s arrived %d times; %d of its %d approvals were good for it", d.call.IdempotencyKey, nth, good, len(let))
	}
}

// checkOrder: the steps of a run never overlap, and bound inputs come from verified outputs (D6). A read that a replica has under way
// which is cut off from the store holds nothing up: it changes nothing.
func (s *sim) checkOrder(r *records.Run, made *records.Plan, list []*delivery) {
	last := map[*session]time.Time{} // with nil for whoever sent
	for _, d := range list {
		for _, until := range []time.Time{last[nil], last[d.by]} {
			if d.at.Before(until) {
				s.fail("D6: %s arrived at %s, before the step before it had ended at %s", d.call.IdempotencyKey, d.at, until)
			}
		}
		by := d.by
		if stepOf(&r.Run, d.call.StepID).SideEffect {
			by = nil
		}
		last[by] = d.done
		step := made.Step(d.call.StepID)
		for _, dep := range step.DependsOn {
			if before := stepOf(&r.Run, dep); before.Status != countersign.StepCompleted {
				s.fail("D6: step %s of %s arrived, and it depends on %s, which is %s", step.ID, r.ID, dep, before.Status)
			}
		}
		s.checkBound(r, made, step, d)
	}
}

func (s *sim) checkBound(r *records.Run, made *records.Plan, step *countersign.Step, d *delivery) {
	for name, b := range step.InputBindings {
		from := stepOf(&r.Run, b.StepID)
		field := ""
		for _, project := range s.projectsOf(made) {
			if c := project.Capability(from.Capability); project.ID == from.ProjectID && c != nil {
				field = c.OutputField
			}
		}
		want, ok := plan.Output{Value: from.Output, OutputField: field}.Field(b.Field)
		if got := d.call.Input[name]; !ok || !got.Equal(want) {
			s.fail("D6: %s was sent with %s = %s; the verified output says %s", d.call.IdempotencyKey, name, got.Raw(), want.Raw())
		}
	}
}
