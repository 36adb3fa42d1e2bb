package test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var (
	redactions     = campaign.SizeFlag("redactions", 10, 100, "how many drawn runs are redacted")
	redactionsSeed = campaign.SeedFlag("redactions-seed")
)

// redacting is a world of which each run holds a value of its own, wherever a run can hold one. Reasons and
// evidence have other values: the log keeps those.
type redacting struct {
	*world
	t    *testing.T
	bank *bank
	desk *returnsDesk
	n    int
}

// planted is a run that ended, and the value that it holds.
type planted struct {
	kind, id, value string
	archived        bool // before it is redacted
}

const (
	payer    = "default-bank"
	returner = "default-returns"
)

func newRedacting(t *testing.T, archive string) *redacting {
	t.Helper()
	w := &redacting{world: &world{shop: harness.NewReceiver(t)}, t: t, bank: newBank(t, time.Hour), desk: newReturnsDesk(t)}
	w.Server = harness.Start(t, harness.Set("CONNECTION_ORIGINS", strings.Join([]string{w.shop.Origin(), w.bank.URL, w.desk.URL}, ",")),
		harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret), harness.Set("REDACT_AFTER", "0s"), harness.Set("ARCHIVE_DIR", archive))
	w.furnish(t)
	signing := doc{"adapter": "HTTP_JSON", "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}}
	w.register(t, payer, harness.With(harness.With(harness.With(harness.With(harness.With(signing, "name", "Bank"), "baseUrl", w.bank.URL), "answerKeys", []any{w.bank.key}),
		"settlement", doc{"path": "/settlement", "mode": "AUTOMATIC"}), "capabilities", []any{harness.Capability("pay", "POST", "/pay", doc{"approval": "NONE", "timeoutMs": 2000})}))
	state := doc{"precondition": doc{"capability": "order", "fields": []any{"state", "buyer"}, "when": doc{"kind": "predicate", "variableId": "state", "operator": "eq", "value": "returned"}}}
	w.register(t, returner, harness.With(harness.With(harness.With(signing, "name", "Returns"), "baseUrl", w.desk.URL), "capabilities", conditionally(state)))
	return w
}

// kinds are the ways in which a run comes to hold a value; each returns an ended run.
var kindsOfRuns = []struct {
	name string
	run  func(w *redacting, value, why string) string
}{
	{"inputs and answer", func(w *redacting, value, _ string) string {
		w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true,"text":"`+value+`"}`))
		return w.ends(w.run(w.t, expecting(step("note", "note", doc{"text": value}), "text", value)), "COMPLETED")
	}},
	{"an approval", func(w *redacting, value, why string) string {
		w.shop.On("POST", "/refunds", harness.Answering(200, `{"ok":true}`))
		id := w.run(w.t, step("refund", "refund", doc{"orderId": value, "amount": 10}))
		w.decides(id, "APPROVED", why)
		return w.ends(id, "COMPLETED")
	}},
	{"a rejection", func(w *redacting, value, why string) string {
		id := w.run(w.t, step("refund", "refund", doc{"orderId": value, "amount": 10}))
		w.decides(id, "REJECTED", why)
		return w.ends(id, "FAILED")
	}},
	{"a refusal of the receiver", func(w *redacting, value, _ string) string {
		w.shop.On("POST", "/notes", harness.Answering(422, `{"error":"no `+value+`"}`))
		return w.ends(w.run(w.t, step("note", "note", doc{"text": value})), "FAILED")
	}},
	{"a recovery", func(w *redacting, value, why string) string {
		w.shop.On("POST", "/refunds", harness.Answering(500, `{"error":"`+value+`"}`))
		w.shop.On("GET", "/refunds/"+value, harness.Answering(200, `{"state":"`+value+`"}`))
		id := w.run(w.t, step("refund", "refund", doc{"orderId": value, "amount": 10}))
		w.decides(id, "APPROVED", why)
		w.ends(id, "RECOVERY_REQUIRED")
		w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "refund"}).OK(w.t)
		w.approver.Post("/runs/"+id+"/reconcile", doc{"resolution": "CONFIRMED_COMPLETED", "evidence": why, "output": doc{"found": value}}).OK(w.t)
		return w.ends(id, "COMPLETED")
	}},
	{"a state", func(w *redacting, value, why string) string {
		w.desk.becomes(`{"state":"returned","buyer":"` + value + `"}`)
		id := w.run(w.t, harness.With(step("refund", "refund", doc{"resourceId": "o-1"}), "projectId", returner))
		w.decides(id, "APPROVED", why)
		return w.ends(id, "COMPLETED")
	}},
	{"a state that changed", func(w *redacting, value, why string) string {
		w.desk.becomes(`{"state":"returned","buyer":"` + value + `-1"}`)
		id := w.run(w.t, harness.With(step("refund", "refund", doc{"resourceId": "o-1"}), "projectId", returner))
		first := w.approval(w.t, id).At("id").Text()
		w.desk.becomes(`{"state":"returned","buyer":"` + value + `-2"}`)
		w.approver.Post("/approvals/"+first+"/decision", doc{"decision": "APPROVED", "reason": why}).OK(w.t)
		w.approver.Post("/approvals/"+w.asksAnew(w.t, id, first).At("id").Text()+"/decision", doc{"decision": "APPROVED", "reason": why}).OK(w.t)
		return w.ends(id, "COMPLETED")
	}},
	{"a signed answer", func(w *redacting, value, _ string) string { return w.pays(value, "", "COMPLETED") }},
	{"a signed statement", func(w *redacting, value, _ string) string { return w.pays(value, "answer lost", "COMPLETED") }},
	{"a rehearsal", func(w *redacting, value, _ string) string {
		plan := w.operator.Post("/plans", rehearsed(step("note", "note", doc{"text": value}))).OK(w.t).At("id").Text()
		return w.ends(w.start(w.t, plan), "COMPLETED")
	}},
}

func (w *redacting) pays(value, line, status string) string {
	w.bank.mu.Lock()
	w.bank.body, w.bank.line = `{"id":"`+value+`","status":"paid"}`, line
	w.bank.mu.Unlock()
	return w.ends(w.run(w.t, harness.With(step("pay", "pay", doc{"to": value}), "projectId", payer)), status)
}

func (w *redacting) decides(id, decision, why string) {
	w.approver.Post("/approvals/"+w.approval(w.t, id).At("id").Text()+"/decision", doc{"decision": decision, "reason": why}).OK(w.t)
}

func (w *redacting) ends(id, status string) string {
	w.settles(w.t, id, status)
	return id
}

func (w *redacting) plant(kind int) planted {
	w.n++
	k := kindsOfRuns[kind%len(kindsOfRuns)]
	value := fmt.Sprintf("Mallory-%dx%d", 4711, w.n*7919)
	return planted{kind: k.name, id: k.run(w, value, fmt.Sprintf("asked by Eve-%d", w.n)), value: value}
}

// TestNothingHasWhatARedactedRunHeld: drawn runs, each with a value of its own, are redacted before and after they are archived. No
// answer, row, file, index, archive, copy or backup made afterwards has the value; receipts, those that were filed too, and the log hold.
func TestNothingHasWhatARedactedRunHeld(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "archive")
	w := newRedacting(t, archive)
	r := rand.New(rand.NewPCG(redactionsSeed.First(t), 0))
	var runs []planted
	for n := range redactions.N() {
		runs = append(runs, w.plant(n))
		runs[n].archived = r.IntN(2) == 0
	}
	runs[0].archived, runs[1].archived = true, false
	control := w.plant(0) // of which all is found
	w.Admin.Put("/runs/"+control.id+"/hold", doc{"hold": true, "reason": "the auditors"}).OK(t)
	for _, p := range runs {
		if !p.archived {
			w.redacted(p)
		}
	}
	w.Stop()
	w.Restart(harness.Set("RETENTION", "1ms"))
	for _, p := range runs {
		harness.Until(t, "the archiving of "+p.id, func() bool { return w.Admin.Get("/runs/"+p.id).Status == 404 })
		switch n := holders(t, archive, p.value); {
		case p.archived && n == 0:
			t.Errorf("%s: the search of the archive doesn't find it before it is redacted", p.kind)
		case !p.archived && n > 0:
			t.Errorf("%s: what was redacted was archived", p.kind)
		}
	}
	for _, p := range runs {
		if p.archived {
			w.tenantAdmin.Post("/runs/"+p.id+"/redact", doc{"reason": "request 48"}).OK(t)
		}
	}
	for _, p := range runs {
		harness.Until(t, "the archive of "+p.id+" to be written anew", func() bool { return holders(t, archive, p.value) == 0 })
	}
	for _, p := range runs {
		w.filedHolds(archive, p)
		for _, path := range []string{"/search?q=" + p.value, "/runs?q=" + p.value} {
			if said := w.Admin.Get(path).OK(t); said.At("total").Exists() && said.At("total").Int() > 0 {
				t.Errorf("%s: %s finds %s", p.kind, path, said)
			}
		}
	}
	harness.Until(t, "the index", func() bool { return w.Admin.Get("/runs?q="+control.value).OK(t).At("total").Int() == 1 })
	w.holds(t, w.Admin, control.id)
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	backup := ""
	if harness.OnDatabase == nil {
		backup = w.backedUp(t)
	}
	w.Stop()
	w.nowhere(runs, control, backup)
	for _, p := range runs {
		w.Keep(p.value) // the harness looks into each row and file of the store
	}
}

// redacted redacts a run that isn't archived, of which each answer and the receipt are looked at.
func (w *redacting) redacted(p planted) {
	w.t.Helper()
	plan := w.Admin.Get("/runs/" + p.id).OK(w.t).At("planId").Text()
	w.tenantAdmin.Post("/runs/"+p.id+"/redact", doc{"reason": "request 48"}).OK(w.t)
	for _, path := range []string{"/runs/" + p.id, "/runs/" + p.id + "/receipt", "/plans/" + plan, "/approvals?runId=" + p.id} {
		if said := w.Admin.Get(path); said.Status != 200 || strings.Contains(said.Raw, p.value) {
			w.t.Errorf("%s: %s: %d %s", p.kind, path, said.Status, said.Raw)
		}
	}
	w.world.holds(w.t, w.Admin, p.id).Is(w.t, "redacted", true)
}

// filedHolds verifies the receipt that is filed with a run.
func (w *redacting) filedHolds(archive string, p planted) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(archive, "*", "*.jsonl.gz"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, file := range files {
		if r := harness.Run(w.t, nil, "archive", "show", file, p.id, "--receipt"); r.Status == 0 {
			w.judge(w.t, 0, r.Out, "--key", w.Admin.Get("/integrations/contract").OK(w.t).At("receiptKeys.0.publicKey").Text()).Is(w.t, "ok", true).Is(w.t, "runId", p.id).Is(w.t, "redacted", true)
			return
		}
	}
	w.t.Errorf("%s: no file of %q has the receipt of %s", p.kind, files, p.id)
}

// nowhere: neither a copy of the stopped store nor a backup has the values of runs that were redacted; both have that of
// one that wasn't.
func (w *redacting) nowhere(runs []planted, control planted, backup string) {
	w.t.Helper()
	copied := filepath.Join(w.t.TempDir(), "copy")
	if r := harness.Run(w.t, nil, "store", "copy", w.Settings()["SVC_PLATFORM_STORE"], copied); r.Status != 0 {
		w.t.Fatalf("%+v", r)
	}
	for _, where := range []string{copied, backup} {
		if where == "" {
			continue
		}
		if _, err := os.Stat(where); err != nil || holders(w.t, where, control.value) == 0 {
			w.t.Errorf("the search of %s doesn't find what wasn't redacted: %v", where, err)
		}
		for _, p := range runs {
			if n := holders(w.t, where, p.value); n > 0 {
				w.t.Errorf("%s: %d files of %s hold it", p.kind, n, where)
			}
		}
	}
}
