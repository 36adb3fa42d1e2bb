package control_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// root is a realm administrator with every role.
func root() control.Actor {
	p := access.Principal{ID: "user:root@acme", Email: "root@acme", Tenant: "acme", Realm: true, Roles: []countersign.Role{
		countersign.RoleAdmin, countersign.RoleOperator, countersign.RoleApprover,
	}}
	return control.Actor{Principal: p, RequestID: "req-1"}
}

// madeChange is a use case that changes something.
type madeChange struct {
	name  string
	make  func() error
	realm bool // recorded in the realm's log
	again bool // who is answered that it failed sends it again, which changes nothing
}

// oneWaits is an approval that is PENDING.
func (f *fixture) oneWaits() string {
	f.t.Helper()
	return f.applied(f.started(as("acme")), run.Resumed{}).ApprovalID
}

// oneIsUncertain is a run with an uncertain step.
func (f *fixture) oneIsUncertain() string {
	f.t.Helper()
	approved := run.Decided{Decision: countersign.ApprovalApproved, Reason: "r", By: "user:ben@acme.example"}
	lost := run.Returned{Attempt: 1, Outcome: request.Outcome{Certainty: request.Unknown, Cause: "no answer"}}
	return f.applied(f.started(as("acme")), run.Resumed{}, approved, run.Resumed{}, lost).ID
}

// applied is a run after events.
func (f *fixture) applied(id string, events ...run.Event) (r countersign.Run) {
	f.t.Helper()
	for _, e := range events {
		f.must(f.store.Update(background, func(tx store.Tx) error {
			moved, err := f.repository.Apply(tx, runrepo.Ref{Tenant: "acme", RunID: id}, nil, e, runrepo.System)
			if err == nil {
				r = *moved.Run.Run()
			}
			return err
		}))
	}
	return r
}

// changes are use cases that change something, each possible after the ones before it.
func (f *fixture) changes(ids []string) []madeChange {
	var made countersign.NewToken
	var plan countersign.Plan
	var one control.Started
	r := "r"
	asked, uncertain := f.oneWaits(), f.oneIsUncertain()
	return []madeChange{
		{name: "PutTenant", realm: true, make: func() error {
			_, err := f.service.PutTenant(background, root(), "gamma", countersign.TenantWrite{Name: "Gamma"})
			return err
		}},
		{name: "PutUser", make: func() error {
			_, err := f.service.PutUser(background, root(), "ann@example.com", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}})
			return err
		}},
		{name: "DeleteUser", make: func() error {
			_, err := f.service.DeleteUser(background, root(), "ann@example.com", "")
			return err
		}},
		{name: "CreateToken", make: func() (err error) {
			made, err = f.service.CreateToken(background, root(), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleViewer}})
			return err
		}},
		{name: "RevokeToken", make: func() error {
			_, err := f.service.RevokeToken(background, root(), made.ID, "")
			return err
		}},
		{name: "PutModel", make: func() error { return f.putModel(root(), "m9", 0) }},
		{name: "SuspendModel", make: func() error {
			_, err := f.service.SuspendModel(background, root(), "m9", r)
			return err
		}},
		{name: "ResumeModel", make: func() error {
			_, err := f.service.ResumeModel(background, root(), "m9", r)
			return err
		}},
		{name: "PutProject", make: func() error {
			w := countersign.ProjectWrite{Name: "n", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{}}
			_, err := f.service.PutProject(background, root(), "acme-new", w)
			return err
		}},
		{name: "CheckHealth", make: func() error {
			_, err := f.service.CheckHealth(background, root(), "acme-new")
			return err
		}},
		{name: "RecordConformance", make: func() error {
			_, err := f.service.RecordConformance(background, root(), "acme-one", countersign.ConformanceWrite{
				ExpectedRevision: 1, Capability: "ping", Target: "https://sandbox.example", Rules: []countersign.RuleVerdict{{Name: countersign.RuleTwins, Verdict: countersign.VerdictHolds}},
			})
			return err
		}},
		{name: "EnableProject", make: func() error {
			_, err := f.service.EnableProject(background, root(), "acme-new", countersign.Toggle{ExpectedRevision: 1})
			return err
		}},
		{name: "DisableProject", make: func() error {
			_, err := f.service.DisableProject(background, root(), "acme-new", countersign.Toggle{ExpectedRevision: 1})
			return err
		}},
		{name: "CreatePlan", make: func() (err error) {
			plan, err = f.service.CreatePlan(background, root(), countersign.PlanWrite{
				ModelID: "m1", ModelRevision: 1, Name: "n", Steps: []countersign.Step{{ID: "s", Name: "s", ProjectID: "acme-one", Capability: "ping"}},
			})
			return err
		}},
		{name: "StartRun", make: func() (err error) {
			one, err = f.service.StartRun(background, root(), countersign.RunStart{PlanID: plan.ID}, "k")
			return err
		}},
		{name: "CancelRun", make: func() error {
			_, err := f.service.CancelRun(background, root(), one.Run.ID, r)
			return err
		}},
		{name: "Decide", make: func() error {
			_, err := f.service.Decide(background, root(), asked, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: r})
			return err
		}},
		{name: "ReconcileRun", make: func() error {
			_, err := f.service.ReconcileRun(background, root(), uncertain, countersign.Reconcile{Resolution: countersign.Abandon, Evidence: r})
			return err
		}},
		{name: "Stop", make: func() error {
			_, err := f.service.Stop(background, root(), countersign.StopWrite{Reason: r})
			return err
		}},
		{name: "SuspendAgent", make: func() error {
			_, err := f.service.SuspendAgent(background, root(), ids[0], countersign.Admission{Reason: r})
			return err
		}},
		{name: "AdmitAgent", make: func() error {
			_, err := f.service.AdmitAgent(background, root(), ids[0], countersign.Admission{Reason: r})
			return err
		}},
		{name: "SuspendTeam", make: func() error {
			_, err := f.service.SuspendTeam(background, root(), "t1", r)
			return err
		}},
		{name: "ResumeTeam", make: func() error {
			_, err := f.service.ResumeTeam(background, root(), "t1", r)
			return err
		}},
		{name: "SyncAgents", again: true, make: func() error {
			_, err := f.service.SyncAgents(background, root(), "acme-one", manifest(item("c")))
			return err
		}},
		{name: "StartAgentRun", make: func() error {
			s := countersign.AgentRunStart{ExpectedRevision: 1, Capability: "ping", Mode: countersign.ModeDryRun}
			_, err := f.service.StartAgentRun(background, root(), ids[1], s, "k2")
			return err
		}},
	}
}

// TestEachChangeIsOneCommitWithItsRecord (invariant A2): between two commits the
// process can die. Each change is made once, and the store is called once.
func TestEachChangeIsOneCommitWithItsRecord(t *testing.T) {
	h, ids := crewed(t)
	for _, change := range h.changes(ids) {
		log := "acme"
		if change.realm {
			log = ""
		}
		commits, records := h.store.updates.Load(), len(h.log(log, 0))
		if err := change.make(); err != nil {
			t.Errorf("%s: %v", change.name, err)
			continue
		}
		if n := h.store.updates.Load() - commits; n != 1 {
			t.Errorf("%s took %d commits", change.name, n)
		}
		if n := len(h.log(log, 0)) - records; n < 1 {
			t.Errorf("%s left %d records", change.name, n)
		}
	}
}
