package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestAnAgentTokenIsMadeOnTheAgentsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, opal := w.person(t, "ada@example.com", "ADMIN"), w.person(t, "opal@example.com", "OPERATOR")
	ids := w.admitted(t, agentItem("clerk", "note", "refund"), agentItem("clerk2", "note", "refund"))
	form := "/access/tokens/new?agent=" + ids[0]
	shows(t, "the agent's page", ada.Open("/agents/"+ids[0]), 200, form)
	if strings.Contains(opal.Open("/agents/"+ids[0]).Text, form) {
		t.Error("an operator is offered a token")
	}
	if page := ada.Open(form); page.Status != 200 || strings.Contains(page.Text, `name="roles"`) || strings.Contains(page.Text, `name="projects"`) {
		t.Errorf("its form offers roles or projects: %d", page.Status)
	}
	fields := url.Values{"name": {"clerk"}, "agents": {ids[0] + " " + ids[1]}, "modes": {"DRY_RUN"}, "days": {"7"}}
	made := sendForm(t, ada, form, fields)
	shows(t, "the answer", made, 201, "Copy the token now", ids[0], ids[1], "and nothing else")
	secret := consoleToken.FindString(made.Text)
	w.Keep(secret)
	w.As(secret).Get("/agents/" + ids[1]).OK(t)
	w.As(secret).Get("/agents").Refused(t, "role_required")
	w.As(secret).Post("/agents/"+ids[0]+"/runs", agentRun("LIVE", "note", nil), key()).Refused(t, "role_required", "DRY_RUN")
	shows(t, "the list", ada.Open("/access/tokens"), 200, "agents only", ids[1])
	fields["agents"] = []string{"agent-none"}
	shows(t, "no such agent", sendForm(t, ada, form, fields), 400, "has no agent agent-none", `value="agent-none"`)
}

func TestAnAgentTokenServesTheCommandsOfItsAgent(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	id := s.admitted(t, agentItem("clerk", "refund", "refund"))[0]
	prints(t, s.command(t, 2, "tokens", "create", "--name", "clerk", "--profile", "admin").Err, "--agent", "--role")
	prints(t, s.command(t, 2, "tokens", "create", "--name", "clerk", "--agent", id, "--role", "OPERATOR", "--profile", "admin").Err, "--agent", "--role")
	prints(t, s.command(t, 2, "tokens", "create", "--name", "clerk", "--agent", id, "--project", shop, "--profile", "admin").Err, "--agent", "--project")
	made := s.command(t, 0, "tokens", "create", "--name", "clerk", "--agent", id, "--profile", "admin").Out
	prints(t, made, "csn_", "agents", id)
	prints(t, s.command(t, 0, "tokens", "list", "--profile", "admin").Out, id)
	s.signIn(t, "clerk", word(t, made, "token"))
	as := func(status int, args ...string) harness.Result {
		t.Helper()
		return s.command(t, status, append(args, "--profile", "clerk")...)
	}
	as(0, "agents", "beat", id, "--once", "--instance", "clerk-1")
	prints(t, as(0, "agents", "show", id).Out, "clerk-1")
	prints(t, as(5, "agents", "start", id, "--capability", "refund", "--input", "orderId=o-1", "--expect", "ok:=true", "--live", "--watch").Out, "WAITING_APPROVAL")
	run := s.viewer.Get("/runs").OK(t).At("items.0.id").Text()
	prints(t, as(0, "runs", "list").Out, run)
	prints(t, as(0, "runs", "show", run).Out, run, "WAITING_APPROVAL") // the agent token may not read its approval
	prints(t, as(3, "approvals", "list").Err, "role_required")
	prints(t, as(0, "runs", "cancel", run, "--reason", "not needed").Out, "CANCELLED")
}
