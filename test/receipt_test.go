package test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// judge verifies a receipt by the command line, offline.
func (w *world) judge(t *testing.T, status int, text string, flags ...string) json {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receipt.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := harness.Run(t, nil, append([]string{"receipt", "verify", path, "-o", "json"}, flags...)...)
	verdict, err := harness.Parse([]byte(r.Out))
	if r.Status != status || err != nil {
		t.Fatalf("exit status %d, expected %d: %s%s\n%s", r.Status, status, r.Out, r.Err, text)
	}
	return verdict
}

func (w *world) receiptKey(t *testing.T) string {
	t.Helper()
	return w.viewer.Get("/integrations/contract").OK(t).At("receiptKeys.0.publicKey").Text()
}

// receiptOf is a run's receipt, byte for byte.
func receiptOf(t *testing.T, who *harness.Client, run string) string {
	t.Helper()
	a := who.Get("/runs/" + run + "/receipt")
	a.OK(t)
	return a.Raw
}

// holds gets the receipt of a run as a principal and verifies it by the published key.
func (w *world) holds(t *testing.T, who *harness.Client, run string) json {
	t.Helper()
	return w.judge(t, 0, receiptOf(t, who, run), "--key", w.receiptKey(t)).Is(t, "ok", true).Is(t, "origin", true).Is(t, "runId", run)
}

func TestEveryWayToEndLeavesAReceiptThatHolds(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	note := step("note", "note", doc{"text": "1.50"})
	approved := w.run(t, refunding()["steps"].([]any)[0].(doc), bound("note", "note", "amount", "refund", "amount"))
	w.shop.On("POST", "/refunds", harness.Answering(200, `{"ok":true,"amount":10.10}`))
	w.approve(t, approved)
	w.reaches(t, approved, "COMPLETED")
	w.holds(t, w.viewer, approved).Is(t, "status", "COMPLETED").Is(t, "approved", 1).Is(t, "requests", 2).Is(t, "hidden", 0).Is(t, "leftOut", 0)

	rejected := w.run(t, refunding()["steps"].([]any)[0].(doc))
	id := w.approval(t, rejected).At("id").Text()
	w.operator.Post("/approvals/"+id+"/decision", doc{"decision": "APPROVED", "reason": "mine"}).Refused(t, "role_required")
	w.approver.Post("/approvals/"+id+"/decision", doc{"decision": "REJECTED", "reason": "no <&>"}).OK(t)
	w.holds(t, w.operator, rejected).Is(t, "status", "FAILED").Is(t, "approved", 0)

	cancelled := w.run(t, refunding()["steps"].([]any)[0].(doc))
	w.approval(t, cancelled)
	w.operator.Get("/runs/"+cancelled+"/receipt").Refused(t, "state_conflict", "WAITING_APPROVAL")
	w.cancel(t, cancelled)
	w.holds(t, w.approver, cancelled).Is(t, "status", "CANCELLED")

	for resolution, status := range map[string]string{"CONFIRMED_COMPLETED": "COMPLETED", "CONFIRMED_NOT_EXECUTED": "COMPLETED", "ABANDON": "CANCELLED"} {
		run := w.uncertain(t).At("id").Text()
		if resolution == "CONFIRMED_NOT_EXECUTED" {
			w.shop.MayRepeat(run + ".note") // it was told that nothing was done
		}
		body := doc{"resolution": resolution, "evidence": "the ledger says so: \"€\"\u2028"}
		if resolution == "CONFIRMED_COMPLETED" {
			body["output"] = doc{"ok": true}
		}
		w.approver.Post("/runs/"+run+"/reconcile", body).OK(t)
		w.reaches(t, run, status)
		w.holds(t, w.tenantAdmin, run).Is(t, "status", status)
	}
	rehearsed := w.start(t, w.ready(t, harness.With(planOf(note), "mode", "DRY_RUN")))
	w.reaches(t, rehearsed, "COMPLETED")
	w.holds(t, w.viewer, rehearsed).Is(t, "mode", "DRY_RUN").Is(t, "requests", 1)
}

// TestAReceiptShowsAViewerNothingSensitive, neither as a text nor in a quoted record, and still verifies; a principal that may see everything
// gets everything.
func TestAReceiptShowsAViewerNothingSensitive(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	w.shop.On("POST", "/body", harness.Answering(200, `{"iban":"`+secretIBAN+`","ok":true}`))
	s := harness.With(step("s", "body", doc{"card": secretCard, "text": "shown"}), "projectId", "default-private")
	run := w.run(t, expecting(s, "iban", "another-"+secretIBAN))
	w.approve(t, run)
	w.reaches(t, run, "FAILED")
	masked := receiptOf(t, w.viewer, run)
	if strings.Contains(masked, "hidden") {
		t.Errorf("a viewer sees it: %s", masked)
	}
	w.holds(t, w.viewer, run).Is(t, "masked", true).Is(t, "hidden", 1).Is(t, "leftOut", 5).Is(t, "approved", 1).Is(t, "unlogged", 1).
		Is(t, "summary", "valid for what it shows; masking left out: sensitive values, the plan's digest, 1 request, 1 decision's audit record, 5 audit records in all")
	prints(t, receiptOf(t, w.approver, run), secretCard, secretIBAN)
	w.holds(t, w.approver, run).Is(t, "masked", false).Is(t, "hidden", 0).Is(t, "leftOut", 0).Is(t, "unlogged", 0).Is(t, "summary", "valid")
	path := filepath.Join(t.TempDir(), "masked.json")
	if err := os.WriteFile(path, []byte(masked), 0o600); err != nil {
		t.Fatal(err)
	}
	verdict := harness.Run(t, nil, "receipt", "verify", path)
	first, _, _ := strings.Cut(verdict.Out, "\n")
	prints(t, first, "masking left out", "1 request", "5 audit records")
	prints(t, verdict.Out, "1 are not proven by the log")
}

// TestNobodyFindsOutARecordByItsHash: receipts contain the hashes of neighboring records, so each record with a digest or a reason has a salt.
func TestNobodyFindsOutARecordByItsHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, refunding()["steps"].([]any)[0].(doc))
	w.approve(t, id)
	salts := map[string]bool{}
	for _, r := range w.tenantAdmin.Get("/audit?limit=200&subject=run/" + id).OK(t).At("items").Items() {
		salt := r.At("salt").Text()
		if hides := r.At("digest").Exists() || r.At("reason").Exists(); hides && (len(salt) < 26 || salts[salt]) {
			t.Errorf("no salt of its own: %s", r)
		}
		salts[salt] = true
	}
	if len(salts) < 3 {
		t.Errorf("%d records with a salt", len(salts))
	}
}

// TestAReceiptOutlivesTheKeyThatSignedIt: rotated keys stay published, and private keys occur nowhere.
func TestAReceiptOutlivesTheKeyThatSignedIt(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	old := w.receiptKey(t) // published before there is a receipt
	run := w.run(t, step("note", "note", doc{"text": "x"}))
	w.reaches(t, run, "COMPLETED")
	first := receiptOf(t, w.viewer, run)
	w.Admin.Get("/audit?realm=true&action=receipts.make_key").OK(t).Is(t, "total", 1).Is(t, "items.0.actor", "system")
	w.Stop()
	r := harness.Run(t, nil, "receipt", "rotate", "--reason", "a backup was read", "--store", w.Settings()["SVC_PLATFORM_STORE"])
	if r.Status != 0 || len(strings.TrimSpace(r.Out)) != 64 {
		t.Fatalf("%+v", r)
	}
	w.Restart()
	keys := w.viewer.Get("/integrations/contract").OK(t).At("receiptKeys")
	if keys.At("0.publicKey").Text() != strings.TrimSpace(r.Out) || keys.At("1.publicKey").Text() != old || keys.At("1.retiredAt").Text() == "" {
		t.Errorf("%s after %s", keys, old)
	}
	w.Admin.Get("/audit?realm=true&action=receipts.rotate_key").OK(t).Is(t, "items.0.reason", "a backup was read").Is(t, "items.0.before", keys.At("1.keyId"))
	w.judge(t, 0, first, "--key", old).Is(t, "origin", true)
	w.judge(t, 1, first, "--key", keys.At("0.publicKey").Text()).Is(t, "section", "signature")
	w.holds(t, w.viewer, run)
}

func TestReceiptsAreKeptAndJudgedByCommand(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	key := word(t, s.command(t, 0, "receipt", "keys").Out, s.receiptKey(t)) // before there is a receipt
	if key != "Ed25519" {
		t.Errorf("the key's algorithm is %s", key)
	}
	run := s.run(t, step("note", "note", doc{"text": "x"}))
	s.reaches(t, run, "COMPLETED")
	path := filepath.Join(s.dir, "r.json")
	prints(t, s.command(t, 0, "receipt", "get", run, "-o", path).Err, path, "receipt verify")
	readableByItsOwnerAlone(t, path)
	prints(t, s.command(t, 2, "receipt", "get", run, "-o", path).Err, "there already", "--force")
	if err := os.Chmod(path, 0o644); err != nil { // as an earlier release left it
		t.Fatal(err)
	}
	s.command(t, 0, "receipt", "get", run, "-o", path, "--force")
	readableByItsOwnerAlone(t, path)
	judged := s.command(t, 0, "receipt", "verify", path)
	prints(t, judged.Out, "valid", run, "whoever has it", "proven under the signed head", "signature only")
	prints(t, judged.Err, "WARNING", "NOT whose key")
	known := s.command(t, 0, "receipt", "verify", path, "--key", s.receiptKey(t))
	prints(t, known.Out, "the key that was given")
	if known.Err != "" {
		t.Errorf("it warns of a key that was given: %s", known.Err)
	}
	prints(t, s.command(t, 2, "receipt", "verify", path, "--key", "00").Err, "--key must be")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	altered := strings.Replace(string(text), `"status":"COMPLETED"`, `"status":"COMPLETEd"`, 1)
	if err := os.WriteFile(path, []byte(altered), 0o600); err != nil {
		t.Fatal(err)
	}
	prints(t, s.command(t, 1, "receipt", "verify", path).Out, "NOT VALID", "section", "run")
	prints(t, s.command(t, 3, "receipt", "get", "nothing").Err, "not_found")
	if got := s.command(t, 0, "receipt", "get", run).Out; got[:12] != altered[:12] {
		t.Errorf("standard output begins %s", got[:12])
	}
}

// readableByItsOwnerAlone: a receipt shows payments, recipients and reasons.
func readableByItsOwnerAlone(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the access %v", path, info.Mode())
	}
}

// TestTheConsoleOffersTheReceiptOfAnEndedRun if the session may read it.
func TestTheConsoleOffersTheReceiptOfAnEndedRun(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	mara := w.person(t, "mara@example.com", "VIEWER")
	run := w.run(t, refunding()["steps"].([]any)[0].(doc))
	w.approval(t, run)
	link := `href="/v1/runs/` + run + `/receipt"`
	if p := mara.Open("/runs/" + run); strings.Contains(p.Text, link) {
		t.Error("a run that has not ended offers one")
	}
	w.cancel(t, run)
	prints(t, mara.Open("/runs/"+run).Text, link, `download="`+run+`.receipt.json"`)
	cookie := w.As("").Get("/runs/"+run+"/receipt", mara.Cookie())
	cookie.OK(t)
	w.judge(t, 0, cookie.Raw, "--key", w.receiptKey(t)).Is(t, "origin", true)
}
