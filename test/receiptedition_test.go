package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestReceiptsOfWhatTheThirdEditionBroughtHold: what differs from what was sent, a cancelled step that may have happened, a decision in a
// session by a sign-in link, and runs of a restored store.
func TestReceiptsOfWhatTheThirdEditionBroughtHold(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	signer, receipts := w.receiptKey(t), map[string]string{}
	keeps := func(w *world, run, status string, holds ...string) {
		t.Helper()
		w.reaches(t, run, status)
		receipts[run] = receiptOf(t, w.Admin, run)
		prints(t, receipts[run], append(holds, `"format":"countersign-receipt/2"`)...)
		w.judge(t, 0, receipts[run], "--key", signer).Is(t, "ok", true).Is(t, "status", status)
	}

	differs := w.uncertain(t).At("id").Text()
	w.approver.Post("/runs/"+differs+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"ok": true, "text": "goodbye"})).OK(t)
	keeps(w, differs, "COMPLETED", `"differs":[{"field":"text","found":"goodbye","sent":"hello"}]`, "(differs from what was sent: text)")

	w.Admin.Put("/users/bob@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	bob := w.byLink(t, w.Admin, "bob@example.com")
	refund := step("refund", "refund", doc{"orderId": "A-1"})
	decided := w.run(t, refund)
	id := w.approval(t, decided).At("id").Text()
	w.As("").Post("/approvals/"+id+"/decision", doc{"decision": "REJECTED", "reason": "no"}, bob.Cookie(), w.csrf(t, bob)).OK(t)
	keeps(w, decided, "FAILED", `\"actorMakers\":[\"token:`)

	cancelled, gate := w.inFlight(t, "POST", "/notes", step("note", "note", doc{"text": "hello"}), harness.Answering(500, `{}`))
	w.cancel(t, cancelled)
	close(gate)
	harness.Until(t, "the late answer", func() bool { return w.viewer.Get("/runs/" + cancelled).OK(t).At("steps.0.late").Exists() })
	w.approver.Post("/runs/"+cancelled+"/reconcile", reconcile("CONFIRMED_NOT_EXECUTED", nil)).OK(t)
	w.reaches(t, cancelled, "CANCELLED").Is(t, "mayHaveHappened", true).Is(t, "steps.0.status", "CANCELLED").Is(t, "steps.0.mayHaveHappened", true)
	w.holds(t, w.viewer, cancelled).Is(t, "status", "CANCELLED")

	waiting := w.run(t, refund, harness.With(step("note", "note", doc{"text": "later"}), "dependsOn", []string{"refund"}))
	w.approval(t, waiting)
	w.Stop()
	if r := harness.Run(t, nil, "store", "restored", w.Store); r.Status != 0 {
		t.Fatalf("%d\n%s%s", r.Status, r.Out, r.Err)
	}
	s := w.on(t, w.Store)
	s.cancel(t, waiting)
	s.reaches(t, waiting, "CANCELLED").Is(t, "mayHaveHappened", true)
	keeps(s, waiting, "CANCELLED", `"restoredAt":"`, `"mayHaveHappened":true`)
	for _, text := range receipts {
		s.judge(t, 1, strings.Replace(text, `"status":"`, `"stetus":"`, 1)).Is(t, "ok", false)
		s.judge(t, 7, strings.Replace(text, "countersign-receipt/2", "countersign-receipt/3", 1)).Is(t, "unknownFormat", "countersign-receipt/3")
	}
	s.judge(t, 1, strings.Replace(receipts[differs], `"found":"goodbye"`, `"found":"goodbyf"`, 1)).Is(t, "section", "run")
	s.judge(t, 1, strings.Replace(receipts[decided], `actorMakers`, `actorMakerz`, 1)).Is(t, "section", "audit")
	s.judge(t, 1, strings.Replace(receipts[waiting], `"restoredAt":"2`, `"restoredAt":"1`, 1)).Is(t, "section", "approvals")
}
