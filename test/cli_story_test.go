package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestTheCommandLineLeadsFromLoginToACompletedLiveRun with commands only.
func TestTheCommandLineLeadsFromLoginToACompletedLiveRun(t *testing.T) {
	t.Parallel()
	receiver := harness.NewReceiver(t)
	server := harness.Start(t, harness.Set("CONNECTION_ORIGINS", receiver.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))
	dir := t.TempDir()
	s := &shell{world: &world{Server: server, shop: receiver}, dir: dir, address: server.URL, settings: map[string]string{"XDG_CONFIG_HOME": dir}}
	s.signIn(t, "admin", server.Settings()["SVC_PLATFORM_BOOTSTRAP_TOKEN"])
	prints(t, s.command(t, 0, "projects", "put", s.file(t, "project.json", harness.Project(receiver.Origin())), "--id", shop).Out, "saved default-shop, revision 1")
	prints(t, s.command(t, 3, "projects", "enable", shop).Err, "health_check_required", "(here 'countersign projects health default-shop')")
	prints(t, s.command(t, 0, "projects", "health", shop).Out, "status 200")
	prints(t, s.command(t, 0, "projects", "enable", shop).Out, "enabled default-shop")
	for profile, role := range map[string]string{"reviewer": "APPROVER", "asker": "OPERATOR"} {
		s.signIn(t, profile, s.asked(t, "tokens", "create", "--name", profile, "--role", role, "--profile", "admin").At("token").Text())
	}
	prints(t, s.command(t, 0, "profiles", "asker").Out, "asker", "yes")

	model := s.file(t, "model.json", harness.Model("refund"))
	prints(t, s.command(t, 0, "models", "explore", model).Out, "paid")
	prints(t, s.command(t, 0, "models", "put", model).Out, "saved refund, revision 1")
	binding := doc{"projectId": shop, "capability": "note", "input": doc{"text": "x"}}
	pay := doc{"projectId": shop, "capability": "refund", "input": doc{"orderId": "A-1"}, "inputVariables": doc{"amount": "amount"}, "expectation": doc{"field": "ok", "equals": true}}
	compile := s.file(t, "compile.json", doc{"scenarioId": "small", "actionBindings": doc{"check": binding, "pay": pay}})
	plan := s.asked(t, "plans", "compile", "refund", "--file", compile, "--live").Is(t, "status", "READY").Is(t, "mode", "LIVE").At("id").Text()

	started := s.command(t, 5, "runs", "start", plan, "--key", "refund-of-A-1", "--watch")
	prints(t, started.Out, "started", "key refund-of-A-1", "check  COMPLETED  NOT_REQUESTED", "pay    WAITING_APPROVAL", "POST /approvals/", "APPROVER")
	run := strings.Fields(started.Out)[0]
	prints(t, s.command(t, 0, "runs", "start", plan, "--key", "refund-of-A-1").Out, run+" started before under this key")
	approval := s.asked(t, "approvals", "list", "--status", "PENDING", "--run", run).At("items.0.id").Text()
	shown := s.command(t, 0, "approvals", "show", approval, "--profile", "reviewer").Out
	prints(t, shown, "POST "+receiver.Origin()+"/refunds", `{"amount":10,"orderId":"A-1"}`, "asked by", "expires")
	prints(t, s.command(t, 0, "approvals", "decide", approval, "--approve", "--reason", "it is back", "--digest", word(t, shown, "digest"), "--profile", "reviewer").Out, "APPROVED")

	watched := s.command(t, 0, "runs", "watch", run).Out
	prints(t, watched, "pay    COMPLETED  PASSED, ok: expected true, actual true", "run    COMPLETED")
	prints(t, s.command(t, 0, "runs", "show", run).Out, "COMPLETED", "POST "+receiver.Origin()+"/refunds", "APPROVED by token:", "it is back", "PASSED, ok: expected true, actual true", run+".pay")
	prints(t, s.command(t, 0, "audit", "verify", "--profile", "admin").Out, "intact   yes")
}

func TestAnApprovalIsDecidedOnlyForTheDigestThatWasLookedAt(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := strings.Fields(s.command(t, 5, "runs", "start", s.ready(t, refunding()), "--watch").Out)[0]
	id := s.approval(t, run).At("id").Text()
	decide := []string{"approvals", "decide", id, "--approve", "--reason", "seen", "--profile", "approver"}
	prints(t, s.command(t, 2, decide...).Err, "nobody can be asked", "--digest")
	shown := s.approval(t, run).At("requestDigest").Text()
	for digest, flags := range map[string][]string{strings.Repeat("0", 64): nil, "00": {"--yes"}} {
		want := "countersign: the digest of what " + id + " would send is " + shown + ", not " + digest + "; nothing was decided: look at it again with 'countersign approvals show'\n"
		if r := s.command(t, 1, append(append(decide, "--digest", digest), flags...)...); r.Err != want {
			t.Errorf("\n got %s\nwant %s", r.Err, want)
		}
	}
	prints(t, s.command(t, 2, "approvals", "decide", id, "--approve", "--yes", "--reason", " ").Err, "--reason")
	prints(t, s.command(t, 3, "approvals", "decide", id, "--approve", "--yes", "--reason", "my own").Err, "role_required")
	cancelled := s.run(t, refunding()["steps"].([]any)[0].(doc))
	prints(t, s.command(t, 0, "runs", "cancel", cancelled, "--reason", "not now").Out, "CANCELLED")
	prints(t, s.command(t, 3, "runs", "cancel", run, "--reason", " ").Err, "reason")
	s.reaches(t, run, "WAITING_APPROVAL")
	prints(t, s.command(t, 0, "approvals", "decide", id, "--reject", "--yes", "--reason", "no", "--profile", "approver").Out, "REJECTED")
	prints(t, s.command(t, 1, "runs", "watch", run).Out, "FAILED", "approval_rejected")
}

// TestAnUncertainStepIsReconciledByCommand in each of the three ways.
func TestAnUncertainStepIsReconciledByCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := s.uncertain(t).At("id").Text()
	prints(t, s.command(t, 5, "runs", "watch", run).Out, "RECOVERY_REQUIRED", "POST /runs/"+run+"/reconcile", "APPROVER", "countersign runs reconcile "+run)
	reconcile := []string{"runs", "reconcile", run, "--evidence", "the ledger has none", "--profile", "approver"}
	prints(t, s.command(t, 2, append(reconcile, "--not-executed")...).Err, "--yes")
	prints(t, s.command(t, 2, append(reconcile, "--yes")...).Err, "--completed or --not-executed or --abandon")
	prints(t, s.command(t, 2, append(reconcile, "--yes", "--abandon", "--completed")...).Err, "can't be used together")
	prints(t, s.command(t, 2, append(reconcile, "--completed", "--yes", "--result", "{")...).Err, "--result")
	s.shop.MayRepeat(run + ".note")
	s.command(t, 0, append(reconcile, "--not-executed", "--yes")...)
	prints(t, s.command(t, 0, "runs", "watch", run, "--wait").Out, "COMPLETED (attempt 2)")
	prints(t, s.command(t, 0, "runs", "show", run).Out, "CONFIRMED_NOT_EXECUTED by token:", "the ledger has none")

	s.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	run = s.run(t, refunding()["steps"].([]any)[0].(doc))
	s.approve(t, run)
	s.reaches(t, run, "RECOVERY_REQUIRED")
	s.shop.On("GET", "/refunds/A-1", harness.Answering(200, `{"ok":true,"found":1}`))
	prints(t, s.command(t, 0, "runs", "probe", run, "--profile", "approver").Out, "probe 1", "GET "+s.shop.Origin()+"/refunds/A-1", `{"ok":true,"found":1}`)
	prints(t, s.command(t, 3, "runs", "reconcile", run, "--completed", "--evidence", "e", "--yes", "--result", `{"ok":false}`, "--profile", "approver").Err, "expectation_not_met", "(here with --result)")
	s.command(t, 0, "runs", "reconcile", run, "--completed", "--evidence", "refund r-9", "--yes", "--result", "@"+s.file(t, "result.json", doc{"ok": true}), "--profile", "approver")
	s.command(t, 0, "runs", "watch", run)

	run = s.uncertain(t).At("id").Text()
	prints(t, s.command(t, 0, "runs", "reconcile", run, "--abandon", "--evidence", "nobody knows", "--yes", "--profile", "approver").Out, "CANCELLED")
	prints(t, s.command(t, 1, "runs", "watch", run).Out, "ABANDONED", "abandoned")
	prints(t, s.command(t, 2, "runs", "probe", run, "--profile", "approver").Err, "no uncertain step")
}
