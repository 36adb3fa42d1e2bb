package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestJSONOutputIsWhatTheAPIAnswers for every list and record.
func TestJSONOutputIsWhatTheAPIAnswers(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	run := s.run(t, refunding()["steps"].([]any)[0].(doc), bound("note", "note", "amount", "refund", "amount"))
	s.shop.On("POST", "/refunds", harness.Answering(200, `{"ok":true,"amount":10.10}`))
	s.approve(t, run)
	s.reaches(t, run, "COMPLETED")
	plan := s.Admin.Get("/runs/" + run).OK(t).At("planId").Text()
	approval := s.Admin.Get("/runs/" + run).OK(t).At("approvalId").Text()
	agent, team := s.crew(t)
	for path, args := range map[string][]string{
		"/projects": {"projects", "list"}, "/projects/" + shop: {"projects", "show", shop},
		"/models": {"models", "list"}, "/models/refund": {"models", "show", "refund"},
		"/plans": {"plans", "list"}, "/plans?status=READY&modelId=refund": {"plans", "list", "--status", "READY", "--model", "refund"}, "/plans/" + plan: {"plans", "show", plan}, "/plans/" + plan + "/drift": {"plans", "drift", plan},
		"/runs": {"runs", "list"}, "/runs?status=COMPLETED": {"runs", "list", "--status", "COMPLETED"}, "/runs?limit=1&planId=" + plan: {"runs", "list", "--limit", "1", "--plan", plan}, "/runs/" + run: {"runs", "show", run},
		"/approvals": {"approvals", "list"}, "/approvals?runId=" + run: {"approvals", "list", "--run", run}, "/approvals/" + approval: {"approvals", "show", approval},
		"/agents": {"agents", "list"}, "/agents?status=ADMITTED&projectId=" + shop: {"agents", "list", "--status", "ADMITTED", "--project", shop}, "/agents/" + agent: {"agents", "show", agent},
		"/teams": {"teams", "list"}, "/teams/" + team: {"teams", "show", team},
		"/audit?limit=3&action=runs.start": {"audit", "list", "--limit", "3", "--action", "runs.start"}, "/audit/verify": {"audit", "verify"}, "/audit?realm=true": {"audit", "list", "--realm"},
		"/tenants": {"tenants", "list"}, "/users": {"users", "list"}, "/health": {"health"}, "/integrations/contract": {"contract"},
	} {
		want := s.Admin.Get(path).OK(t)
		if got := s.asked(t, append(args, "--profile", "admin")...); got.String() != want.String() {
			t.Errorf("countersign %v:\n%s\nthe API:\n%s", args, got, want)
		}
	}
	if got := s.command(t, 0, "runs", "show", run, "-o", "json").Out; !strings.Contains(got, "10.10") {
		t.Errorf("a number lost a digit: %s", got)
	}
}

// crew is a system's two agents, admitted, and a team of them.
func (s *shell) crew(t *testing.T) (agent, team string) {
	t.Helper()
	item := func(id, capability string) doc {
		return doc{"externalAgentId": id, "sourceRevision": 1, "name": id, "role": "r", "goal": "g", "capabilities": []string{capability}, "modelId": "refund"}
	}
	manifest := s.file(t, "manifest.json", doc{"schemaVersion": "1.0", "agents": []doc{item("reader", "search"), item("writer", "note")}})
	synced := s.asked(t, "agents", "sync", shop, manifest)
	reader, writer := synced.At("items.0.id").Text(), synced.At("items.1.id").Text()
	for _, id := range []string{reader, writer} {
		prints(t, s.command(t, 0, "agents", "admit", id, "--reason", "read", "--profile", "admin").Out, "ADMITTED")
	}
	file := s.file(t, "team.json", doc{
		"name": "Desk", "members": []doc{{"agentId": reader, "role": "reads"}, {"agentId": writer, "role": "writes"}},
		"steps": []doc{{"id": "write", "name": "write", "agentId": writer, "capability": "note", "input": doc{"text": "x"}}},
	})
	prints(t, s.command(t, 0, "teams", "put", file, "--id", "desk").Out, "saved desk, revision 1")
	return reader, "desk"
}

// TestAnAgentIsMadeByOneCommand: an administrator who is no operator has it registered, admitted and
// given a token. The token made for the registration is revoked, and other agents stay as they are.
func TestAnAgentIsMadeByOneCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	other, _ := s.crew(t)
	create := []string{"agents", "create", "refunder", "--project", shop, "--capability", "search", "--capability", "note", "--reason", "it only notes", "--profile", "admin"}
	made := s.asked(t, append(create, "--days", "3")...)
	agent := made.At("agent.id").Text()
	made.Is(t, "agent.status", "ADMITTED").Is(t, "agent.capabilities", []string{"search", "note"}).Is(t, "agent.goal", "it only notes").Is(t, "token.agentIds", []string{agent})
	s.As(made.At("token.token").Text()).Get("/agents/"+agent).OK(t).Is(t, "modelId", harness.Absent)
	s.viewer.Get("/agents/"+other).OK(t).Is(t, "status", "ADMITTED").Is(t, "revision", 1)
	for _, k := range s.Admin.Get("/tokens").OK(t).At("items").Items() {
		if k.At("name").Text() == "agents create refunder" && k.At("revokedAt").Text() == "" {
			t.Errorf("it is left: %s", k)
		}
	}
	again := s.command(t, 0, create...)
	prints(t, again.Out, agent, "ADMITTED", "csn_", "mcp      http://127.0.0.1:", "/mcp/agents/"+agent)
	prints(t, again.Err, "shown only once")
	s.viewer.Get("/agents/"+agent).OK(t).Is(t, "revision", 1)
	prints(t, s.command(t, 3, "agents", "create", "refunder", "--project", shop, "--capability", "note", "--reason", "less", "--profile", "admin").Err, "manifest_conflict")
	prints(t, s.command(t, 3, "agents", "create", "x", "--project", shop, "--capability", "note", "--reason", "r").Err, "role_required")
}

func TestAgentsAndTeamsAreRunByCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	agent, team := s.crew(t)
	live := []string{"agents", "start", agent, "--capability", "search", "--input", "status=open", "--input", "limit:=5", "--expect", "ok:=true", "--live", "--watch"}
	prints(t, s.command(t, 0, live...).Out, "PASSED, ok: expected true, actual true", "run      COMPLETED")
	if got := s.shop.Seen("GET", "/search")[0].Target; got != "/search?limit=5&status=open" {
		t.Errorf("sent %s", got)
	}
	prints(t, s.command(t, 3, "agents", "start", agent, "--capability", "search", "--live").Err, "expectation_required")
	prints(t, s.command(t, 3, "agents", "start", agent, "--capability", "search", "--revision", "9").Err, "revision_conflict", "--revision")
	prints(t, s.command(t, 2, "agents", "start", agent, "--capability", "search", "--input", "status").Err, "name=TEXT")
	prints(t, s.command(t, 2, "agents", "start", agent, "--capability", "search", "--input", "n:=x").Err, "JSON")
	prints(t, s.command(t, 0, "projects", "run", shop, "--capability", "search", "--input", "q=one", "--live", "--watch").Out, "run      COMPLETED")
	prints(t, s.command(t, 3, "projects", "run", shop, "--capability", "none").Err, "invalid_request", "none")
	prints(t, s.command(t, 0, "teams", "start", team, "--inputs", s.file(t, "inputs.json", doc{"write": doc{"text": "y"}}), "--live", "--watch").Out, "write  COMPLETED", "run    COMPLETED")
	if got := string(s.shop.Seen("POST", "/notes")[0].Body); got != `{"text":"y"}` {
		t.Errorf("sent %s", got)
	}
	prints(t, s.command(t, 0, "agents", "beat", agent, "--once", "--instance", "desk-1", "--state", "BUSY").Out, "BUSY")
	beating := harness.Interrupt(t, s.settings, func(string) bool { return s.viewer.Get("/agents/"+agent).OK(t).At("instanceCount").Int() == 2 }, "agents", "beat", agent)
	if beating.Status != 130 {
		t.Errorf("%+v", beating)
	}
	prints(t, s.command(t, 0, "agents", "show", agent).Out, "desk-1", "BUSY", "host-", "ONLINE")
	prints(t, s.command(t, 0, "agents", "suspend", agent, "--reason", "x", "--profile", "admin").Out, "PENDING")
	prints(t, s.command(t, 3, live...).Err, "agent_not_admitted")
	prints(t, s.command(t, 0, "teams", "suspend", team, "--reason", "x", "--profile", "admin").Out, "suspended")
	prints(t, s.command(t, 0, "teams", "resume", team, "--reason", "x", "--profile", "admin").Out, "resumed")
	s.retireAndRestore(t, [2]string{"teams", team}, [2]string{"agents", agent}, [2]string{"models", "refund"}, [2]string{"projects", shop})
}

// retireAndRestore: a retired record is listed only on demand; a restored one is listed again.
func (s *shell) retireAndRestore(t *testing.T, each ...[2]string) {
	t.Helper()
	for _, one := range each {
		kind, id := one[0], one[1]
		prints(t, s.command(t, 0, kind, "retire", id, "--reason", "x", "--profile", "admin").Out, "retired "+id)
		if list := s.command(t, 0, kind, "list").Out; strings.Contains(list, id+" ") {
			t.Errorf("%s list shows %s:\n%s", kind, id, list)
		}
		prints(t, s.command(t, 0, kind, "list", "--retired").Out, id, "RETIRED")
		prints(t, s.command(t, 0, kind, "restore", id, "--reason", "x", "--profile", "admin").Out, "restored "+id)
		prints(t, s.command(t, 0, kind, "list").Out, id)
	}
}

// TestNoNameMovesTheCursor in lists, records and error messages.
func TestNoNameMovesTheCursor(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	evil := "\x1b[2J\u009b31m\u202egnp\nnext"
	model := harness.With(harness.With(harness.Model("evil"), "name", evil), "agent.goal", evil)
	s.operator.Put("/models/evil", doc{"document": model}).OK(t)
	s.Admin.Put("/projects/default-evil", harness.With(harness.Project(s.shop.Origin()), "name", evil)).OK(t)
	run := s.run(t, step("note", "note", doc{"text": evil}))
	s.reaches(t, run, "COMPLETED")
	for _, args := range [][]string{
		{"models", "list"}, {"models", "show", "evil"}, {"projects", "list"}, {"projects", "show", "default-evil"}, {"runs", "show", run}, {"models", "show", "evil", "-o", "json"},
	} {
		out := s.command(t, 0, args...).Out
		if strings.ContainsAny(out, "\x1b\u009b\u202e") || strings.Contains(out, "\nnext") {
			t.Errorf("countersign %v lets it through: %q", args, out)
		}
	}
	s.asked(t, "models", "show", "evil").Is(t, "name", evil)
	if r := s.command(t, 2, "runs", "show", "x", "--"+evil); strings.ContainsAny(r.Err, "\x1b\u009b\u202e") {
		t.Errorf("%q", r.Err)
	}
}

func TestAnEditNeverOverwritesWhatItHasNotSeen(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	made := s.ready(t, refunding())
	project := s.file(t, "project.json", harness.With(harness.Project(s.shop.Origin()), "id", shop))
	admin := []string{"--profile", "admin"}
	prints(t, s.command(t, 3, append([]string{"projects", "put", project}, admin...)...).Err, "revision_conflict", "revision 1", "--revision")
	prints(t, s.command(t, 0, append([]string{"projects", "put", project, "--revision", "1"}, admin...)...).Out, "revision 2")
	prints(t, s.command(t, 3, append([]string{"projects", "put", project, "--revision", "1"}, admin...)...).Err, "revision_conflict")
	model := s.file(t, "model.json", harness.Model("refund"))
	prints(t, s.command(t, 3, "models", "put", model).Err, "revision_conflict", "--revision")
	prints(t, s.command(t, 0, "models", "put", s.file(t, "write.json", doc{"document": harness.Model("refund"), "expectedRevision": 1})).Out, "revision 2")
	prints(t, s.command(t, 1, "plans", "drift", made).Out, "model", "refund")
	prints(t, s.command(t, 0, append([]string{"models", "suspend", "refund", "--reason", "x"}, admin...)...).Out, "suspended refund, revision 3")
	prints(t, s.command(t, 0, append([]string{"models", "resume", "refund", "--reason", "x"}, admin...)...).Out, "resumed")
	prints(t, s.command(t, 2, append([]string{"projects", "disable", shop}, admin...)...).Err, "--reason")
	prints(t, s.command(t, 0, append([]string{"projects", "disable", shop, "--reason", "x"}, admin...)...).Out, "disabled")
}
