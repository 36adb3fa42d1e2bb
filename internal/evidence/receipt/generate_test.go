package receipt

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/request"
)

var morning = time.Date(2026, 11, 21, 9, 0, 0, 123456000, time.UTC)

// drawn draws the facts of runs that could have been, with every digest and record
// that belongs to them.
type drawn struct {
	*rand.Rand
	t     testing.TB
	facts Facts
	log   []countersign.AuditRecord
	now   time.Time

	third  bool         // it may hold what the third edition brought
	unseen map[int]bool // records that masking leaves out
	misuse misuse       // of passkeys
}

// draw is the same for the same seed.
func draw(t *testing.T, seed uint64) Facts { return drawMisused(t, seed, misuse{}) }

func drawMisused(t *testing.T, seed uint64, m misuse) Facts {
	t.Helper()
	d := &drawn{Rand: newRand(seed), t: t, now: morning, unseen: map[int]bool{}, misuse: m}
	d.facts = Facts{Tenant: "acme", Version: "0.1.0", IssuedAt: morning.Add(time.Hour), Masked: d.IntN(5) == 0}
	d.third = d.IntN(2) == 0
	d.run()
	d.prove()
	return d.facts
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 10)) }

func (d *drawn) key() ed25519.PrivateKey { return keyOf(d.Uint64()) }

func keyOf(n uint64) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range 8 {
		seed[i] = byte(n >> (8 * i))
	}
	return ed25519.NewKeyFromSeed(seed)
}

func (d *drawn) run() {
	r := &d.facts.Run
	mode := pick(d, countersign.ModeLive, countersign.ModeLive, countersign.ModeDryRun)
	*r = countersign.Run{
		ID: "run-" + fmt.Sprint(d.IntN(1000)), PlanID: "plan-1", Mode: mode,
		Status:      pick(d, countersign.RunCompleted, countersign.RunFailed, countersign.RunCancelled),
		RequestedBy: "user:ines@marlow.example", IdempotencyKey: d.word(), CreatedAt: morning, UpdatedAt: morning, Steps: []countersign.StepRun{},
	}
	r.PlanSnapshot = &countersign.Plan{
		ID: "plan-1", Name: d.word(), Mode: mode, Status: countersign.PlanReady, ModelID: "refunds", ModelRevision: 2, ModelSnapshot: &countersign.Model{ID: "refunds", Revision: 2}, Steps: []countersign.Step{}, ValidationErrors: []string{},
		PlanningInputs: map[string]countersign.Value{"x": d.value(0)}, Projects: []countersign.ProjectRef{{ID: "acme-shop", Revision: 3}},
		ProjectSnapshots: []countersign.Project{{ID: "acme-shop", Revision: 3, Capabilities: []countersign.Capability{{Name: "refund", Method: "POST"}, {Name: "note", Method: "POST", Approval: countersign.ApprovalNone}, d.ruled()}}},
	}
	if d.third {
		r.PlanSnapshot.Gate = pick[int64](d, 0, countersign.Gate)
		r.RestoredAt = pick(d, time.Time{}, time.Time{}, morning.Add(30*time.Minute))
	}
	d.bound(r.PlanSnapshot.ProjectSnapshots[0].Capabilities)
	r.AgentWords = pick(d, nil, nil, &countersign.AgentWords{Task: d.word(), Reason: d.word()})
	r.Reason = pick(d, "", "", d.word())
	by := ""
	if d.third && d.IntN(2) == 0 {
		by = d.byAgent()
	}
	d.note("runs.start", "", r.RequestedBy, "READY", mode+" of plan plan-1"+by+because(r.Reason), "")
	d.log[0].Identity, d.log[0].OnBehalfOf = r.Identity, r.OnBehalfOf
	for i := range d.IntN(4) {
		d.step(fmt.Sprintf("s%d", i))
	}
	if r.Status == countersign.RunCompleted && slices.ContainsFunc(r.Steps, func(s countersign.StepRun) bool {
		return s.Status != countersign.StepCompleted && s.Status != countersign.StepSimulated
	}) {
		r.Status = countersign.RunFailed
	}
	if r.Status == countersign.RunFailed && r.Error == "" {
		r.Error = "not_sent: " + d.word()
	}
	d.mayHaveHappened()
	if r.Status == countersign.RunCancelled {
		r.CancelRequested = true
		d.note("runs.cancel", "", "token:t-2", "CANCELLED", d.word(), "")
	}
	end := map[countersign.RunStatus]string{countersign.RunCompleted: "run.complete", countersign.RunFailed: "run.fail", countersign.RunCancelled: "run.cancel"}
	r.CompletedAt = d.note(end[r.Status], "", countersign.SystemPrincipal, string(r.Status), r.Error, "")
	d.digestPlan()
}

// byAgent has an agent ask, by its own identity, perhaps for somebody.
func (d *drawn) byAgent() string {
	r := &d.facts.Run
	r.AgentID, r.RequestedBy, r.Identity = "agt-1", "agent:agt-1", &countersign.Identity{Issuer: "https://id.example.com", Claim: "azp", Value: d.word()}
	r.PlanSnapshot.Agents = []countersign.PlanAgent{{ID: "agt-1", Revision: 1}}
	r.OnBehalfOf = pick(d, nil, &countersign.OnBehalfOf{Issuer: "https://id.example.com", Subject: d.word()}, &countersign.OnBehalfOf{Issuer: "https://id.example.com", Subject: d.word(), Email: "lena@marlow.example"})
	return " by agent agt-1"
}

// mayHaveHappened draws it for steps that didn't complete.
func (d *drawn) mayHaveHappened() {
	r := &d.facts.Run
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status == countersign.StepSkipped && r.Status == countersign.RunCancelled {
			s.Status = countersign.StepCancelled
		}
		s.MayHaveHappened = s.Status != countersign.StepCompleted && r.Mode == countersign.ModeLive && d.IntN(2) == 0
		r.MayHaveHappened = r.MayHaveHappened || s.MayHaveHappened
	}
}

// digestPlan is last: of a plan with its steps.
func (d *drawn) digestPlan() {
	r := &d.facts.Run
	v, err := countersign.ValueOf(r.PlanSnapshot)
	if err != nil {
		d.t.Fatal(err)
	}
	r.PlanDigest = countersign.SHA256Hex(planContent(v.Canonical()))
	d.log[0].Digest = r.PlanDigest
	if d.unseen[0] {
		r.PlanDigest = ""
	}
	r.PlanSnapshot.PlanDigest = r.PlanDigest
}

func (d *drawn) step(id string) {
	r := &d.facts.Run
	s := countersign.StepRun{ID: id, Name: d.word(), ProjectID: "acme-shop", Capability: pick(d, "refund", "note", "pay"), DependsOn: []string{}, Status: countersign.StepCompleted, Input: map[string]countersign.Value{d.word(): d.value(0)}}
	s.ApprovalRequired, s.SideEffect, s.IdempotencyKey = r.PlanSnapshot.ProjectSnapshots[0].Capability(s.Capability).NeedsApprovalBy(r.PlanSnapshot.Gate), true, r.ID+"."+id
	if s.Capability == "pay" {
		s.Input = d.payment()
	}
	s.AgentID = pick(d, "", "", "", "agent-1")
	planned := countersign.Step{ID: id, Name: s.Name, ProjectID: s.ProjectID, Capability: s.Capability, AgentID: s.AgentID, Input: s.Input}
	if own := (countersign.Expectation{Field: "ok", Equals: d.value(2)}); d.IntN(4) > 0 {
		planned.Expectation = &own
	}
	r.PlanSnapshot.Steps = append(r.PlanSnapshot.Steps, planned)
	capability := r.PlanSnapshot.ProjectSnapshots[0].Capability(s.Capability)
	expected := countersign.Expectations(capability, &planned)
	if d.IntN(8) == 0 || r.Error != "" {
		s.Status = countersign.StepSkipped
		r.Steps = append(r.Steps, s)
		return
	}
	s.Request = &countersign.Request{Method: "POST", URL: "https://shop.example/refunds?n=" + fmt.Sprint(d.IntN(50)), Body: pick(d, countersign.Null, countersign.ObjectValue(map[string]countersign.Value{"amount": d.value(0), d.word(): d.value(1)}))}
	_, n, _ := strings.Cut(s.Request.URL, "=")
	s.Request.Query = countersign.ObjectValue(map[string]countersign.Value{"n": pick(d, countersign.RawValue(n), countersign.String(n))})
	s.Request.Headers = pick(d, countersign.Value{}, countersign.ObjectValue(map[string]countersign.Value{"X-Shop": countersign.String(d.word())}),
		countersign.ObjectValue(map[string]countersign.Value{"Authorization": countersign.String("Basic desk:•••"), "X-Api-Key": countersign.String("•••")}))
	digest := request.Digest(*s.Request, s.ProjectID, 3, s.Capability)
	s.RequestDigest = countersign.StepDigest(digest)
	asked, noted := len(d.facts.Approvals), len(d.log)
	v := gate.Judge(nil, gate.OfPlan(r.PlanSnapshot), capability, s.Input, nil)
	s.ApprovalRequired = v.Asks()
	budget := v.Then != countersign.RuleDeny && r.Mode == countersign.ModeLive && (len(capability.Budgets) > 0 || s.AgentID != "")
	switch {
	case budget && d.IntN(4) == 0:
		s.ApprovalRequired, s.Status, s.Error = false, countersign.StepFailed, &countersign.StepError{Code: countersign.CodeDeniedByBudget, Message: "used up"}
		r.Error = "denied_by_budget: used up"
		d.note("step.deny", id, countersign.SystemPrincipal, "FAILED", "used up", digest)
	case r.Mode == countersign.ModeLive && v.Then == countersign.RuleDeny:
		s.Status, s.Error = countersign.StepFailed, &countersign.StepError{Code: countersign.CodeDeniedByRule, Message: "too much"}
		r.Error = "denied_by_rule: too much"
		d.note("step.deny", id, countersign.SystemPrincipal, "FAILED", "too much", digest)
	case r.Mode == countersign.ModeLive:
		s.ApprovalRequired = v.Asks() || budget && d.IntN(2) == 0
		d.live(&s, digest, expected)
	default:
		s.WouldBe = pick(d, "", v.WouldBe())
		s.Status, s.Output, s.Verification = countersign.StepSimulated, countersign.Null, verified(expected, countersign.VerificationSimulated)
		s.CompletedAt = d.note("step.simulate", id, countersign.SystemPrincipal, "SIMULATED", "", digest)
		s.StartedAt = s.CompletedAt
	}
	if d.facts.Masked && d.IntN(2) == 0 {
		d.mask(&s, asked, noted)
	}
	r.Steps = append(r.Steps, s)
}

// mask leaves out what a viewer must not see of a step, of its approvals, which are
// those since then, and of its records.
func (d *drawn) mask(s *countersign.StepRun, asked, noted int) {
	s.Request.Body, s.RequestDigest = countersign.String("•••"), countersign.NoStepDigest
	if s.Response != nil {
		s.Response.Bytes, s.Response.BodySHA256 = countersign.NoByteCount, countersign.NoBodyDigest
	}
	for i := asked; i < len(d.facts.Approvals); i++ {
		d.facts.Approvals[i].Request, d.facts.Approvals[i].RequestDigest = *s.Request, ""
		for j := range d.facts.Approvals[i].Decisions {
			d.facts.Approvals[i].Decisions[j].Assertion = nil
		}
	}
	for i := noted; i < len(d.log); i++ {
		d.unseen[i] = true
	}
	d.unseen[0] = true
}

func (d *drawn) live(s *countersign.StepRun, digest string, expected []countersign.Expectation) {
	for s.Attempt < 1+d.IntN(2) {
		if s.ApprovalRequired && !d.asked(s, digest, expected) {
			s.Status, s.Error = countersign.StepFailed, &countersign.StepError{Code: countersign.CodeApprovalRejected, Message: "no"}
			d.facts.Run.Error = "approval_rejected: no"
			return
		}
		if s.Attempt > 0 {
			d.resolved(s, countersign.ConfirmedNotExecuted, "PENDING", digest)
		}
		s.Attempt++
		s.StartedAt = d.note("step.send", s.ID, countersign.SystemPrincipal, "RUNNING", "", digest)
	}
	if d.facts.Run.Status == countersign.RunCancelled && d.IntN(3) == 0 { // nothing is sent again
		d.resolved(s, countersign.ConfirmedNotExecuted, "CANCELLED", digest)
		s.Status, s.CompletedAt = countersign.StepCancelled, s.Reconciliation.At
		s.Response = &countersign.Response{StatusCode: 503}
		if d.third {
			s.Response.RetryAfter = pick(d, "", "120")
		}
		return
	}
	s.Response = &countersign.Response{StatusCode: 200, Bytes: countersign.ByteCount(d.Int64N(1 << 20)), BodySHA256: countersign.BodyDigest(digest)}
	s.Output, s.Verification = d.value(0), verified(expected, countersign.VerificationPassed)
	if len(expected) == 0 {
		s.Verification.Status = countersign.VerificationNotRequested
		d.facts.Run.UnverifiedSteps++
	}
	if d.IntN(4) == 0 {
		d.resolved(s, countersign.ConfirmedCompleted, "COMPLETED", digest)
		s.CompletedAt = s.Reconciliation.At
		return
	}
	if len(expected) > 0 {
		s.Verification.StatusCode = int64(s.Response.StatusCode)
	}
	s.CompletedAt = d.note("step.complete", s.ID, countersign.SystemPrincipal, "COMPLETED", s.Verification.Status, digest)
}

// verified says that each of these expectations is met, or will be judged.
func verified(expected []countersign.Expectation, status string) *countersign.Verification {
	v := &countersign.Verification{Status: status}
	for _, e := range expected {
		check := countersign.ExpectationCheck{Status: status, Field: e.Field, Expected: e.Equals}
		if status == countersign.VerificationPassed {
			check.Actual = e.Equals
		}
		v.Field, v.Expected, v.Actual = check.Field, check.Expected, check.Actual
		v.Checks = append(v.Checks, check)
	}
	if len(expected) < 2 {
		v.Checks = nil
	}
	return v
}

func (d *drawn) resolved(s *countersign.StepRun, resolution, after, digest string) {
	s.Reconciliation = &countersign.Reconciliation{Resolution: resolution, Evidence: d.word(), By: "token:t-1"}
	reason := resolution + ": " + s.Reconciliation.Evidence
	if d.third && resolution == countersign.ConfirmedCompleted && d.IntN(3) > 0 {
		s.Reconciliation.Differs = d.differs(s)
		if fields := fieldsOf(s.Reconciliation.Differs); fields != "" {
			reason += " (differs from what was sent: " + fields + ")"
		}
	}
	s.Reconciliation.At = d.note("runs.reconcile", s.ID, "token:t-1", after, reason, digest)
}

// differs draws where an output contradicts the inputs: by their names, or in its outputField.
func (d *drawn) differs(s *countersign.StepRun) (out []countersign.Discrepancy) {
	field := d.facts.Run.PlanSnapshot.ProjectSnapshots[0].Capability(s.Capability).OutputField
	for _, at := range []string{"", field + "."} {
		for _, name := range slices.Sorted(maps.Keys(s.Input)) {
			if at != "." && d.IntN(2) == 0 {
				out = append(out, countersign.Discrepancy{Field: at + name, Sent: s.Input[name], Found: countersign.String("another " + d.word())})
			}
		}
	}
	return out
}

func fieldsOf(differs []countersign.Discrepancy) string {
	var fields []string
	for _, one := range differs {
		fields = append(fields, one.Field)
	}
	return strings.Join(fields, ", ")
}

// asked draws the approvals that were asked for before one sending: some expired
// before the step began, and the last one lets it out, or doesn't.
func (d *drawn) asked(s *countersign.StepRun, digest string, expected []countersign.Expectation) bool {
	for d.IntN(3) == 0 {
		d.approval(s, digest, expected, countersign.ApprovalApproved, 2*time.Second)
		d.now = d.now.Add(time.Minute)
	}
	if d.IntN(5) > 0 {
		d.approval(s, digest, expected, countersign.ApprovalApproved, time.Hour)
		return true
	}
	d.approval(s, digest, expected, countersign.ApprovalRejected, time.Hour)
	return false
}

func (d *drawn) approval(s *countersign.StepRun, digest string, expected []countersign.Expectation, status countersign.ApprovalStatus, valid time.Duration) {
	r := &d.facts.Run
	asked := d.note("approval.request", s.ID, countersign.SystemPrincipal, "WAITING_APPROVAL", "", digest)
	a := countersign.Approval{
		ID: fmt.Sprintf("apr-%d", len(d.facts.Approvals)), RunID: r.ID, StepID: s.ID, Status: status, Attempt: s.Attempt + 1,
		Request: *s.Request, RequestDigest: digest, ProjectID: s.ProjectID, Capability: s.Capability, InputSnapshot: s.Input, RequestedBy: r.RequestedBy,
		RequestedAt: asked, ExpiresAt: asked.Add(valid), PlanID: r.PlanID, DecidedBy: "user:mara@marlow.example", DecisionReason: d.word() + " it came back",
		AgentWords: r.AgentWords, RunReason: r.Reason, Expectation: d.shown(expected),
		Identity: r.Identity, OnBehalfOf: r.OnBehalfOf,
	}
	if r.OnBehalfOf != nil {
		a.BehindUnknown = d.IntN(2) == 0
	}
	if !r.RestoredAt.IsZero() { // an earlier restore left its own on what was decided before the last
		a.RestoredAt = pick(d, time.Time{}, r.RestoredAt.Add(-time.Minute), r.RestoredAt)
	}
	d.decide(&a, s)
	signs := a.ApprovalsNeeded > 0 && d.IntN(2) == 0
	if signs && d.IntN(3) > 0 {
		a.DecisionAssertion = countersign.DecisionAssertionPasskey
		d.log[len(d.log)-1-len(a.Decisions)].DecisionAssertion = a.DecisionAssertion
	}
	action := "approvals.decide"
	if a.Status == countersign.ApprovalRejected && d.IntN(2) == 0 {
		a.DecidedBy, action = countersign.SystemPrincipal, "approval.close"
	}
	a.DecidedAt = d.note(action, s.ID, a.DecidedBy, string(a.Status), a.DecisionReason, digest)
	if a.ApprovalsNeeded > 0 {
		a.Decisions = append(a.Decisions, countersign.GivenDecision{Decision: a.Status, By: a.DecidedBy, Groups: a.Groups, Reason: a.DecisionReason, At: a.DecidedAt})
	}
	if signs {
		d.sign(&a)
	}
	d.facts.Approvals = append(d.facts.Approvals, a)
	s.ApprovalID = a.ID
}

// shown is how an approval shows expectations; earlier releases showed none.
func (d *drawn) shown(expected []countersign.Expectation) countersign.Value {
	if len(expected) == 0 || d.IntN(4) == 0 {
		return countersign.Value{}
	}
	var of any = expected
	if len(expected) == 1 {
		of = expected[0]
	}
	v, err := countersign.ValueOf(of)
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// bound draws what capabilities expect, and their budgets.
func (d *drawn) bound(capabilities []countersign.Capability) {
	for i := range capabilities {
		c := &capabilities[i]
		if d.IntN(3) == 0 {
			c.Expectation = &countersign.Expectation{Field: "id", Equals: d.value(2)}
		}
		c.OutputField = pick(d, "", "", "data")
		if d.IntN(4) == 0 {
			c.Budgets = []countersign.Budget{{Count: 3, Window: "1h", Then: pick(d, countersign.RuleAsk, countersign.RuleDeny), Reason: "so many"}}
		}
	}
}

// ruled is a capability with rules.
func (d *drawn) ruled() countersign.Capability {
	is := func(path, operator, value string) countersign.Condition {
		return countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: path, Operator: operator, Value: countersign.Scalar{Value: countersign.RawValue(value)}}}
	}
	both := countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: pick(d, "AND", "OR"), Conditions: []countersign.Condition{
		is("amount", pick(d, "eq", "neq", "gte", "lt"), pick(d, "10", "10.50", "1e30")), is("to.country", pick(d, "eq", "neq", "isKnown", "isUnknown"), `"KP"`),
	}}}
	rules := []countersign.ApprovalRule{
		{When: is("amount", "gt", "1000"), Then: countersign.RuleDeny, Reason: "too much"},
		{When: is("amount", "gt", "100"), Then: countersign.RuleAsk, Approvals: 2, Reason: "much"},
		{When: both, Then: countersign.RuleAsk, Groups: []string{"legal", "finance"}, Reason: "who knows"},
		{When: is("amount", "lte", "10.5"), Then: countersign.RuleAllow, Reason: "little"},
	}
	c := countersign.Capability{Name: "pay", Method: "POST", Idempotent: d.IntN(2) == 0, Approval: pick(d, countersign.ApprovalRiskBased, countersign.ApprovalNone)}
	for _, r := range rules {
		if d.IntN(2) == 0 {
			c.ApprovalRules = append(c.ApprovalRules, r)
		}
	}
	return c
}

func (d *drawn) payment() map[string]countersign.Value {
	input := map[string]countersign.Value{"amount": countersign.RawValue(pick(d, "5", "10", "10.5", "10.500000000000000000001", "101", "1e3", "1e30", "-1", `"5"`, "null"))}
	if d.IntN(3) > 0 {
		input["to"] = countersign.RawValue(pick(d, `{"country":"KP"}`, `{"country":"DE"}`, `{"country":7}`, `{"country":"DE","Country":"KP"}`, `{"country":"KP","COUNTRY":"KP"}`, `{"Country":"KP"}`, `{}`, `[]`))
	}
	if d.IntN(8) == 0 {
		input["to.country"] = countersign.String("KP")
	}
	// To some receivers that is the same member.
	if name := pick(d, "", "", "", "Amount", "to.COUNTRY", "TO"); name != "" {
		input[name] = countersign.RawValue(pick(d, "5", `"KP"`, `{"country":"KP"}`, "null"))
	}
	return input
}

// decide draws the decisions before the last: as many approvals as the rules ask for
// and, now and then, one that no longer counts. The last decider is in each group.
func (d *drawn) decide(a *countersign.Approval, s *countersign.StepRun) {
	v := gate.Judge(nil, gate.OfPlan(d.facts.Run.PlanSnapshot), d.facts.Run.PlanSnapshot.ProjectSnapshots[0].Capability(s.Capability), s.Input, nil)
	v.Approvals = max(1, v.Approvals) // of a budget that asks
	if v.Approvals == 1 && v.Groups == nil && d.IntN(2) == 0 {
		return // as an earlier release kept it
	}
	a.ApprovalsNeeded, a.Groups = int64(v.Approvals), v.Groups
	given := v.Approvals - 1
	if a.Status == countersign.ApprovalRejected {
		given = d.IntN(given + 1)
	}
	left := -1
	if len(v.Groups) > 0 && d.IntN(2) == 0 {
		left, given = given, given+1
	}
	for i := range given {
		one := countersign.GivenDecision{Decision: countersign.ApprovalApproved, By: fmt.Sprintf("user:%d@marlow.example", i), Reason: d.word()}
		switch {
		case i == left:
			one.Left = true
		case len(v.Groups) > 0:
			one.Groups = v.Groups[:1]
		}
		one.At = d.note("approvals.decide", s.ID, one.By, "PENDING", one.Reason, a.RequestDigest)
		a.Decisions = append(a.Decisions, one)
	}
}

// note adds a record and gives its time.
func (d *drawn) note(action, step, actor, after, reason, digest string) time.Time {
	d.now = d.now.Add(time.Second)
	record := countersign.AuditRecord{
		At: d.now, Actor: actor, Action: action, Subject: "run/" + d.facts.Run.ID, Step: step, Outcome: countersign.AuditDone,
		After: after, Reason: reason, Digest: digest, RequestID: "req-1",
	}
	if d.third {
		record.ActorMakers = pick(d, nil, nil, []string{"user:vera@marlow.example"})
	}
	d.log = append(d.log, record)
	return d.now
}

// prove puts the records into a log among others, which has its own length.
func (d *drawn) prove() {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(at))
		for i, x := range at {
			out[i] = stored[x]
		}
		return out, nil
	})
	var seqs []int64
	var texts []string
	size := int64(0)
	add := func(text string) {
		more, err := tlog.StoredHashes(size, []byte(text), read)
		if err != nil {
			d.t.Fatal(err)
		}
		stored = append(stored, more...)
		size++
	}
	others := func() {
		for range d.IntN(6) {
			add(fmt.Sprint("another ", size))
		}
	}
	for i := range d.log {
		r := d.log[i] // its assertion is that of the decision, which gets the number of the registration here
		others()
		r.Seq = size
		if r.Passkey != nil {
			d.registered(r.Passkey.CredentialID, size)
		}
		text, err := countersign.Marshal(r)
		if err != nil {
			d.t.Fatal(err)
		}
		seqs, texts = append(seqs, size), append(texts, string(text))
		add(string(text))
	}
	others()
	root, err := tlog.TreeHash(size, read)
	if err != nil {
		d.t.Fatal(err)
	}
	d.facts.Log = Log{Size: size, Root: hex.EncodeToString(root[:])}
	for i, seq := range seqs {
		if d.unseen[i] {
			d.facts.Log.LeftOut++
			continue
		}
		proof, err := tlog.ProveRecord(size, seq, read)
		if err != nil {
			d.t.Fatal(err)
		}
		rec := Record{Text: texts[i], Proof: []string{}}
		for _, h := range proof {
			rec.Proof = append(rec.Proof, hex.EncodeToString(h[:]))
		}
		d.facts.Log.Records = append(d.facts.Log.Records, rec)
	}
	if d.third && d.IntN(2) == 0 {
		d.facts.Log.Cosigned = cosignedHead(d.t, read, seqs[len(seqs)-1]+1+d.Int64N(size-seqs[len(seqs)-1]), size, cosigning{})
	}
}

// because is how the record of a start quotes why.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func pick[T any](d *drawn, of ...T) T { return of[d.IntN(len(of))] }

// words hold what strings can: escapes, and characters that UTF-16 sorts otherwise
// than UTF-8 does.
var words = []string{"", "a", "amount", "é", "\uffee", "😀", "\u2028", "<&>", "\"\\/", "\n\r\t\x01\x1f", "\x7f", "\ufeff", "日本", "{\"seq\":1}"}

func (d *drawn) word() string { return pick(d, words...) + pick(d, words...) }

var numbers = []string{
	"0", "-0", "1.50", "9007199254740993", "-12.000e-3", "1e400", "1E+20", "1e21", "100000000000000000000000", "0.1", "12345678901234567890.123456789", "-7e-999999999", "5e18",
}

// value is any JSON value, not deeper than it is said to be.
func (d *drawn) value(depth int) countersign.Value {
	switch kind := d.IntN(8); {
	case kind < 2:
		return countersign.RawValue(pick(d, numbers...))
	case kind < 4 || depth > 3:
		return countersign.String(d.word())
	case kind == 4:
		return pick(d, countersign.Null, countersign.Bool(true), countersign.Bool(false))
	case kind == 5:
		return countersign.ArrayValue([]countersign.Value{d.value(depth + 1), d.value(depth + 1)})
	default:
		return countersign.ObjectValue(map[string]countersign.Value{d.word(): d.value(depth + 1), d.word(): d.value(depth + 1), d.word(): d.value(depth + 1)})
	}
}
