package control_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// crewed is a fixture with two admitted agents of acme-one, which are the team t1.
func crewed(t *testing.T) (*fixture, []string) {
	t.Helper()
	h := open(t)
	ids := h.admitted(item("a"), item("b"))
	_, err := h.service.PutTeam(background, as("acme"), "t1", teamOf(ids, pings("s0", ids[0]), pings("s1", ids[1])))
	h.must(err)
	return h, ids
}

func pinging(mode string) countersign.AgentRunStart {
	return countersign.AgentRunStart{ExpectedRevision: 1, Mode: mode, Capability: "ping", Expectation: done}
}

func (f *fixture) startPing(id, mode, key string) (control.Started, error) {
	return f.service.StartAgentRun(background, as("acme"), id, pinging(mode), key)
}

func (f *fixture) startTeamRun(mode, key string) (control.Started, error) {
	return f.service.StartTeamRun(background, as("acme"), "t1", countersign.TeamRunStart{ExpectedRevision: 1, Mode: mode}, key)
}

func (f *fixture) suspendAgent(id string) {
	f.t.Helper()
	_, err := f.service.SuspendAgent(background, as("acme"), id, countersign.Admission{Reason: "r"})
	f.must(err)
}

func (f *fixture) disable(project string) {
	f.t.Helper()
	_, err := f.service.DisableProject(background, as("acme"), project, countersign.Toggle{ExpectedRevision: 1})
	f.must(err)
}

// What changes between the plan and its commit is drift, as it is for any plan.
func TestChangeWhileAStartIsUnderWayIsDrift(t *testing.T) {
	h, ids := crewed(t)
	h.store.before = func() { h.suspendAgent(ids[1]) }
	_, err := h.startTeamRun("", "k")
	wantCode(t, err, countersign.CodeDrift)
	h.store.before = func() { h.disable("acme-one") }
	_, err = h.startPing(ids[0], countersign.ModeLive, "k")
	wantCode(t, err, countersign.CodeProjectDisabled)
	if page, err := h.service.Plans(background, as("acme"), control.List{Limit: 100}, control.PlanFilter{}); err != nil || page.Total != 0 {
		t.Errorf("%d plans, %v", page.Total, err)
	}
}

// TestAStartIsJudgedByWhetherItsProjectIsEnabledInItsTurn: one that was disabled when the plan was
// made of it, and is enabled by then, starts; of an agent, a team and a single call.
func TestAStartIsJudgedByWhetherItsProjectIsEnabledInItsTurn(t *testing.T) {
	h, ids := crewed(t)
	for name, start := range map[string]func() (control.Started, error){
		"agent": func() (control.Started, error) { return h.startPing(ids[0], countersign.ModeLive, "agent") },
		"team":  func() (control.Started, error) { return h.startTeamRun(countersign.ModeLive, "team") },
		"call": func() (control.Started, error) {
			call := countersign.ProjectRunStart{Mode: countersign.ModeLive, Capability: "ping", Expectation: done}
			return h.service.StartProjectRun(background, as("acme"), "acme-one", call, "call")
		},
	} {
		h.disable("acme-one")
		h.store.before = func() {
			h.elsewhere(func() {
				_, err := h.service.EnableProject(background, as("acme"), "acme-one", countersign.Toggle{ExpectedRevision: 1})
				h.must(err)
			})
		}
		if _, err := start(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStartBeyondTheLimitIsCapacity: nothing of it is kept.
func TestStartBeyondTheLimitIsCapacity(t *testing.T) {
	h := openWith(t, 1)
	ids := h.admitted(item("a"), item("b"))
	_, err := h.startPing(ids[0], "", "k1")
	h.must(err)
	before, records := h.everything("acme"), len(h.log("acme", 0))
	_, err = h.startPing(ids[1], "", "k2")
	wantCode(t, err, countersign.CodeCapacity)
	if h.everything("acme") != before || len(h.log("acme", 0)) != records {
		t.Error("something was kept")
	}
	again, err := h.startPing(ids[0], "", "k1")
	if err != nil || !again.Replayed {
		t.Errorf("the key finds nothing at the limit: %v", err)
	}
}

// A plan that belongs to an agent or team run is run by nothing else.
func TestPlanOfAnAgentRunIsNotStartedByItself(t *testing.T) {
	h, ids := crewed(t)
	for _, start := range []func() (control.Started, error){
		func() (control.Started, error) { return h.startPing(ids[0], "", "k1") },
		func() (control.Started, error) { return h.startTeamRun("", "k2") },
	} {
		got, err := start()
		h.must(err)
		_, err = h.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: got.Run.PlanID}, "other-"+got.Run.ID)
		wantCode(t, err, countersign.CodeStateConflict)
	}
}

// TestDisabledProjectIsNamedBeforeAnythingElseAboutThePlan: LIVE only.
func TestDisabledProjectIsNamedBeforeAnythingElseAboutThePlan(t *testing.T) {
	h, ids := crewed(t)
	h.disable("acme-one")
	_, err := h.service.SuspendModel(background, as("acme"), "m1", "r")
	h.must(err)
	wrong := pinging(countersign.ModeLive)
	wrong.Capability = "fly"
	_, err = h.service.StartAgentRun(background, as("acme"), ids[0], wrong, "k1")
	wantCode(t, err, countersign.CodeProjectDisabled)
	wrong.Mode = ""
	_, err = h.service.StartAgentRun(background, as("acme"), ids[0], wrong, "k2")
	wantCode(t, err, countersign.CodeInvalidRequest)
	_, err = h.startTeamRun(countersign.ModeLive, "k3")
	wantCode(t, err, countersign.CodeProjectDisabled)
	_, err = h.startTeamRun("", "k4")
	wantCode(t, err, countersign.CodeDrift)
}

// TestSuspensionIsNamedWhateverRevisionIsExpected: a caller with the old revision
// learns why it may not start, not that it should read again.
func TestSuspensionIsNamedWhateverRevisionIsExpected(t *testing.T) {
	h, ids := crewed(t)
	_, err := h.service.SuspendTeam(background, as("acme"), "t1", "r")
	h.must(err)
	_, err = h.startTeamRun("", "k1")
	wantCode(t, err, countersign.CodeDrift)
	h.suspendAgent(ids[0])
	_, err = h.startPing(ids[0], "", "k2")
	wantCode(t, err, countersign.CodeAgentNotAdmitted)
}

// TestNobodyStartsBeforeEveryMemberIsAdmitted, in either mode.
func TestNobodyStartsBeforeEveryMemberIsAdmitted(t *testing.T) {
	h, ids := crewed(t)
	h.sync(item("b", at(2)))
	for _, mode := range []string{countersign.ModeDryRun, countersign.ModeLive} {
		_, err := h.startTeamRun(mode, "k1")
		wantCode(t, err, countersign.CodeAgentNotAdmitted)
		pending := pinging(mode)
		pending.ExpectedRevision = 2
		_, err = h.service.StartAgentRun(background, as("acme"), ids[1], pending, "k2")
		wantCode(t, err, countersign.CodeAgentNotAdmitted)
	}
	_, err := h.startPing(ids[0], "", "k3") // the other one may still run alone
	wantCode(t, err, "")
}

// A LIVE agent run says what proves it; a rehearsal, and a team's step, need not.
func TestLiveAgentRunNeedsAnExpectation(t *testing.T) {
	h, ids := crewed(t)
	s := pinging(countersign.ModeLive)
	s.Expectation = nil
	_, err := h.service.StartAgentRun(background, as("acme"), ids[0], s, "k1")
	wantCode(t, err, countersign.CodeExpectationRequired)
	s.Mode = ""
	_, err = h.service.StartAgentRun(background, as("acme"), ids[0], s, "k2")
	wantCode(t, err, "")
	_, err = h.startTeamRun(countersign.ModeLive, "k3")
	wantCode(t, err, "")
}

func TestAgentWithoutAModelRunsItsCapabilities(t *testing.T) {
	h := open(t)
	id := h.admitted(item("a", modelled("")))[0]
	for _, mode := range []string{countersign.ModeDryRun, countersign.ModeLive} {
		_, err := h.startPing(id, mode, "k"+mode)
		wantCode(t, err, "")
	}
}

// A token that rehearses only starts nothing LIVE, not even again.
func TestRehearsingTokenStartsNothingLive(t *testing.T) {
	h, ids := crewed(t)
	_, err := h.startPing(ids[0], countersign.ModeLive, "k")
	h.must(err)
	boss := as("acme")
	boss.Roles = append(boss.Roles, countersign.RoleApprover)
	made, err := h.service.CreateToken(background, boss, countersign.TokenWrite{Name: "t", Roles: []countersign.Role{countersign.RoleOperator}, Modes: []string{countersign.ModeDryRun}})
	h.must(err)
	p, err := h.service.Authenticate(background, made.Secret)
	h.must(err)
	rehearser := control.Actor{Principal: p, RequestID: "req-1"}
	_, err = h.service.StartAgentRun(background, rehearser, ids[0], pinging(countersign.ModeLive), "k")
	wantCode(t, err, countersign.CodeRoleRequired)
	_, err = h.service.StartAgentRun(background, rehearser, ids[0], pinging(""), "k2")
	wantCode(t, err, "")
}
