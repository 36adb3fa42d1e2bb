package control_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// refusal is what a use case was refused with, and what it must say.
type refusal struct {
	err  error
	want string
}

func (r refusal) check(t *testing.T) {
	t.Helper()
	if r.err == nil || r.err.Error() != r.want {
		t.Errorf("\n got %v\nwant %s", r.err, r.want)
	}
}

// refusalOf is the error alone of what a use case returns.
func refusalOf[T any](_ T, err error) error { return err }

// TestRefusalsOfProjectsAndModelsSayWhatWouldBeRight reads each message.
func TestRefusalsOfProjectsAndModelsSayWhatWouldBeRight(t *testing.T) {
	h := open(t)
	ada := as("acme")
	one := limited("acme-one")
	ping := []countersign.Capability{{Name: "ping", Method: "POST", Path: "/ping", InputSchema: map[string]countersign.InputField{}}}
	echo := countersign.ProjectWrite{Name: "new", Adapter: countersign.AdapterLocalEcho, Capabilities: ping}
	put := func(id string, w countersign.ProjectWrite) error {
		return refusalOf(h.service.PutProject(background, ada, id, w))
	}
	model := func(a control.Actor, id, document string, expected int64) error {
		doc := countersign.AgentModel{SchemaVersion: countersign.ModelSchemaVersion, ID: document}
		return refusalOf(h.service.PutModel(background, a, id, countersign.ModelWrite{Document: doc, ExpectedRevision: expected}))
	}
	_, err := h.service.SyncAgents(background, ada, "acme-two", manifest(item("a", modelled("m2"))))
	h.must(err)
	h.must(put("acme-new", echo))
	h.checked = func() {
		again := echo
		again.ExpectedRevision = 1
		h.must(put("acme-new", again))
	}
	changed := refusalOf(h.service.CheckHealth(background, ada, "acme-new"))
	h.checked = nil
	started, err := h.service.StartProjectRun(background, ada, "acme-one", countersign.ProjectRunStart{Capability: "ping", Mode: countersign.ModeDryRun}, "k-run")
	h.must(err)
	used := echo
	used.ExpectedRevision = 1
	inUse := put("acme-one", used)
	h.must(refusalOf(h.service.CancelRun(background, ada, started.Run.ID, "enough")))
	h.must(refusalOf(h.service.PutGroup(background, ada, "legal", countersign.GroupWrite{Name: "Legal"})))
	ruled := echo
	ruled.Capabilities = []countersign.Capability{ping[0]}
	ruled.Capabilities[0].ApprovalRules = []countersign.ApprovalRule{{Then: countersign.RuleAsk, Reason: "r", Groups: []string{"legal"}, When: countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: countersign.CombinatorAnd}}}}
	h.must(put("acme-ruled", ruled))
	for _, s := range []refusal{
		{changed, "revision_conflict: project acme-new changed to revision 2 during the check; check again"},
		{inUse, "project_in_use: unfinished runs use project acme-one: run-1005 (it is running)"},
		{put("beta-one", echo), "invalid_request: id: a project id of this tenant begins with acme-"},
		{refusalOf(h.service.EnableProject(background, ada, "acme-new", countersign.Toggle{ExpectedRevision: 2})), "health_check_required: the latest health check of revision 2 must be healthy: POST /projects/acme-new/health-check first"},
		{model(ada, "m1", "m2", 1), "invalid_request: document.id: it must be m1, the id in the path, not m2"},
		{model(ada, "m9", "m9", 1), "revision_conflict: there is no model m9 to update; expectedRevision 0 or none creates it"},
		{model(one, "m2", "m2", 1), "project_scope: model m2 is also used outside your projects; store the document under another id"},
		{refusalOf(h.service.PutGroup(background, ada, "legal", countersign.GroupWrite{Name: "Legal", ExpectedRevision: 7})), "revision_conflict: group legal is at revision 1, not 7; read it and send expectedRevision 1"},
		{refusalOf(h.service.PutGroup(background, ada, "new", countersign.GroupWrite{Name: " "})), "invalid_request: name: it can't be blank"},
		{refusalOf(h.service.DeleteGroup(background, ada, "legal")), "state_conflict: project acme-ruled names group legal at capabilities[0].approvalRules[0].groups[0]; take it out of the rule first"},
		{refusalOf(h.service.CancelRun(background, ada, started.Run.ID, " ")), "invalid_request: reason: say why; it can't be blank"},
	} {
		s.check(t)
	}
}

// TestAConflictOfAModelSaysWhoChangedIt: the two can talk before either overwrites the other.
func TestAConflictOfAModelSaysWhoChangedIt(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		refusal{h.putModel(as("acme"), "m1", 7), "revision_conflict: model m1 is at revision 1, not 7: user:ada@acme changed it at 2000-01-01T00:00:00Z; read it and send expectedRevision 1"}.check(t)
		h.service.Close()
	})
}

// TestRefusalsOfStartsSayWhatWouldBeRight reads each message.
func TestRefusalsOfStartsSayWhatWouldBeRight(t *testing.T) {
	h, ids := crewed(t)
	ada, one := as("acme"), limited("acme-two")
	plan := func(id, name, capability string) (countersign.Plan, error) {
		return h.service.CreatePlan(background, ada, countersign.PlanWrite{ID: id, Name: name, ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeDryRun, Steps: []countersign.Step{
			{ID: "s", Name: "s", ProjectID: "acme-one", Capability: capability},
		}})
	}
	good, err := plan("plan-1", "p", "ping")
	h.must(err)
	bad, err := plan("plan-2", "p", "pong")
	h.must(err)
	run, err := h.service.StartRun(background, ada, countersign.RunStart{PlanID: good.ID}, "k-1")
	h.must(err)
	start := func(a control.Actor, key string, w countersign.ProjectRunStart) error {
		return refusalOf(h.service.StartProjectRun(background, a, "acme-two", w, key))
	}
	ping := countersign.ProjectRunStart{Capability: "ping", Mode: countersign.ModeDryRun}
	team := func(revision int64) error {
		return refusalOf(h.service.StartTeamRun(background, ada, "t1", countersign.TeamRunStart{ExpectedRevision: revision}, "k-team"))
	}
	call, err := h.service.StartProjectRun(background, ada, "acme-one", ping, "k-call")
	h.must(err)
	stale := team(9)
	h.suspendAgent(ids[1])
	unadmitted := team(1)
	h.must(refusalOf(h.service.SuspendTeam(background, ada, "t1", "r")))
	for _, s := range []refusal{
		{refusalOf(plan("plan-1", "other", "ping")), "state_conflict: there is a plan plan-1 with other content; choose another id or none"},
		{refusalOf(h.service.StartRun(background, ada, countersign.RunStart{PlanID: bad.ID}, "k-2")), "plan_invalid: plan plan-2 is INVALID: steps[0].capability: project acme-one has no capability pong"},
		{start(one, "k-1", ping), "idempotency_conflict: Idempotency-Key: it is in use; take another one, which names your own piece of work"},
		{start(ada, "k-1", ping), "idempotency_conflict: Idempotency-Key: it started run run-1004 with other content; look at that run, and send what started it, expectedRevision included, to get it; take another key only for something else"},
		{stale, "revision_conflict: team t1 is at revision 1, not 9; read it and send expectedRevision 1"},
		{unadmitted, "agent_not_admitted: agent agent-zcw2czki6i3o4fhfasny is PENDING; an ADMIN admits it"},
		{team(1), "drift: team t1 is suspended; an ADMIN resumes it"},
		{refusalOf(h.service.CallAgent(background, ada, ids[0], countersign.AgentRunStart{Mode: countersign.ModeLive, Capability: "ping"}, countersign.AgentWords{}, 0)), "expectation_required: ping: nothing says what its output must be, so it is offered for rehearsal only; an ADMIN gives the capability an expectation"},
		{refusalOf(h.service.SuspendAgent(background, ada, ids[0], countersign.Admission{Reason: "r", Budgets: []countersign.Budget{}})), "invalid_request: budgets: they belong to POST /agents/{id}/admit"},
		{refusalOf(h.service.Receipt(background, ada, run.Run.ID)), "state_conflict: run run-1004 is READY; it has a receipt when it has ended"},
		{refusalOf(h.service.StartRun(background, ada, countersign.RunStart{PlanID: call.Run.PlanID}, "k-9")), "state_conflict: plan plan-1005 belongs to a run of an agent, a team or a single call; start that again instead"},
		{refusalOf(h.service.Rehearsal(background, ada, run.Run.ID)), "state_conflict: run run-1004 is itself a rehearsal; only a LIVE run can be compared"},
	} {
		s.check(t)
	}
}

// TestRefusalsOfProbesSayWhatWouldBeRight reads each message.
func TestRefusalsOfProbesSayWhatWouldBeRight(t *testing.T) {
	h := open(t)
	inputs := func(required bool, names ...string) map[string]countersign.InputField {
		m := map[string]countersign.InputField{}
		for _, name := range names {
			m[name] = countersign.InputField{Type: "string", Required: required}
		}
		return m
	}
	h.must(refusalOf(h.service.PutProject(background, as("acme"), "acme-pay", countersign.ProjectWrite{Name: "pay", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "pay", Method: "POST", Path: "/pay", Probe: "look", InputSchema: inputs(false, "ref")},
		{Name: "look", Method: "GET", Path: "/pay/{ref}", InputSchema: inputs(true, "ref")},
	}})))
	h.must(refusalOf(h.service.CheckHealth(background, as("acme"), "acme-pay")))
	h.must(refusalOf(h.service.EnableProject(background, as("acme"), "acme-pay", countersign.Toggle{ExpectedRevision: 1})))
	stands := func(status countersign.StepStatus, project, capability string, input map[string]countersign.Value) string {
		p, err := h.service.CreatePlan(background, as("acme"), countersign.PlanWrite{
			Name: "p", ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeLive, Steps: []countersign.Step{{ID: "s", ProjectID: project, Capability: capability, Input: input}},
		})
		h.must(err)
		started, err := h.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, h.newID("key"))
		h.must(err)
		h.poses(started.Run.ID, started.Run.ID, time.Now(), status)
		return started.Run.ID
	}
	probe := func(run, step string) error {
		return refusalOf(h.service.Probe(background, approver("ben@acme.example"), run, step))
	}
	lost := stands(countersign.StepRecoveryRequired, "acme-pay", "pay", values("ref", `"r-1"`))
	var twice error
	h.probed = func() { twice = probe(lost, "s") }
	_ = probe(lost, "s")
	for _, s := range []refusal{
		{twice, "state_conflict: a probe of run run-1006 is under way"},
		{probe(lost, "other"), "invalid_request: stepId: run run-1006 has no step other"},
		{probe(stands(countersign.StepRunning, "acme-pay", "pay", nil), "s"), "state_conflict: step s is RUNNING; only an uncertain step is probed"},
		{probe(stands(countersign.StepRecoveryRequired, "acme-one", "ping", nil), "s"), "state_conflict: capability ping has no probe; check the receiver another way"},
		{probe(stands(countersign.StepRecoveryRequired, "acme-pay", "pay", nil), "s"), "state_conflict: the probe can't be made from the step's inputs: input.ref: is required by look"},
	} {
		s.check(t)
	}
}

// TestRefusalsOfDecisionsSayWhatWouldBeRight reads each message.
func TestRefusalsOfDecisionsSayWhatWouldBeRight(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	h.approval("done", 0, countersign.ApprovalApproved, "acme-one", "note")
	h.approval("half", 0, countersign.ApprovalPending, "acme-one", "note")
	h.approval("waits", 0, countersign.ApprovalPending, "acme-one", "note")
	eve := judge("eve@acme", countersign.RoleApprover)
	eve.Person = "eve@acme"
	h.must(h.store.Update(background, func(tx store.Tx) error {
		half, version, err := records.Approvals.Get(tx, "acme", "half")
		if err != nil {
			return err
		}
		half.ApprovalsNeeded = 2
		half.Deciders = []records.Decider{{Requester: access.Requester{ID: "user:ben@acme", Email: "ben@acme"}, OnBehalfOf: []string{"eve@acme"}}}
		_, err = records.Approvals.Put(tx, "acme", "half", half, version)
		return err
	}))
	approved := countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "seen"}
	for _, s := range []refusal{
		{refusalOf(h.service.Decide(background, eve, "done", approved)), "state_conflict: approval done is APPROVED already, decided by user:eve@acme"},
		{h.service.MayDecide(background, eve, "half"), "state_conflict: user:ben@acme has decided approval half in your place; 2 different deciders must approve"},
		{h.service.MayDecide(background, judge("ben@acme", countersign.RoleApprover), "half"), "state_conflict: you have decided approval half already; 2 different deciders must approve"},
	} {
		s.check(t)
	}
}

// TestRefusalsBeyondATenantSayWhatWouldBeRight reads each message.
func TestRefusalsBeyondATenantSayWhatWouldBeRight(t *testing.T) {
	h := open(t)
	ada := as("acme")
	root := as("acme")
	root.Realm = true
	over, cancel := context.WithCancel(background)
	cancel()
	viewer := []countersign.Role{countersign.RoleViewer}
	token := func(w countersign.TokenWrite) error { return refusalOf(h.service.CreateToken(background, ada, w)) }
	for _, s := range []refusal{
		{refusalOf(h.service.Stop(background, ada, countersign.StopWrite{TenantID: countersign.AllTenants, Reason: "r"})), "role_required: tenantId: stopping all tenants needs a realm administrator"},
		{refusalOf(h.service.Users(background, root, control.List{}, "gone")), "not_found: there is no tenant gone"},
		{refusalOf(h.service.PutTenant(background, root, "Acme-2", countersign.TenantWrite{Name: "n"})), "invalid_request: id: a tenant id is 2 to 32 lower-case letters and digits, a letter first, without hyphens"},
		{refusalOf(h.service.AuditRecord(background, ada, 4711, false)), "not_found: there is no record 4711 in this log"},
		{refusalOf(h.service.PutSettings(background, ada, countersign.TenantSettingsWrite{ExpectedRevision: 7, Reason: "r"})), "revision_conflict: the settings are at revision 0, not 7; read them and send expectedRevision 0"},
		{refusalOf(h.service.PutModel(over, ada, "m1", countersign.ModelWrite{Document: countersign.AgentModel{ID: "m1"}, ExpectedRevision: 1})), "unavailable: the request ended before its turn came; nothing was changed"},
		{token(countersign.TokenWrite{Name: " ", Roles: viewer}), "invalid_request: name: say what the token is for; it can't be blank"},
		{token(countersign.TokenWrite{Name: "n", Roles: append(viewer, viewer...)}), "invalid_request: roles[1]: VIEWER is named twice"},
		{token(countersign.TokenWrite{Name: "n", Roles: viewer, ProjectIDs: []string{"beta-one"}}), "invalid_request: projectIds[0]: a project id of tenant acme begins with acme-"},
		{token(countersign.TokenWrite{Name: "n", Roles: viewer, ProjectIDs: []string{"acme-one"}, AgentIDs: []string{}}), "invalid_request: agentIds: name at least one agent; roles: a token with agentIds has the role OPERATOR and no other; projectIds: agentIds say what the token reaches; leave this out"},
		{token(countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleOperator}, AgentIDs: []string{"nobody"}}), "invalid_request: agentIds[0]: tenant acme has no agent nobody; a sync of a manifest makes agents"},
		{token(countersign.TokenWrite{Name: "n", Roles: viewer, UserEmail: "eve@example.com"}), "invalid_request: userEmail: eve@example.com is not a user of tenant acme; add the user first, or leave it out"},
	} {
		s.check(t)
	}
}

// TestALogThatDoesNotVerifyGivesNoReceipt, and the refusal says where to look.
func TestALogThatDoesNotVerifyGivesNoReceipt(t *testing.T) {
	h := open(t)
	id := h.ended("acme")
	h.must(h.store.Update(background, func(tx store.Tx) error {
		rows, err := tx.List(store.Audit, "acme", store.Query{Order: []store.Order{{Column: "seq", Descending: true}}, Limit: 1})
		if err != nil {
			return err
		}
		row := rows[0]
		row.Doc = []byte(strings.Replace(string(row.Doc), `"outcome":"done"`, `"outcome":"dine"`, 1))
		return tx.Put(store.Audit, "acme", row, row.Version)
	}))
	refusal{refusalOf(h.service.Receipt(background, as("acme"), id)), "state_conflict: run run-1006 has no receipt, since the audit log that must prove it does not verify; GET /audit/verify says from which record on"}.check(t)
}
