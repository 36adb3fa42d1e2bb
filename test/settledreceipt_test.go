package test

import (
	"strings"
	"testing"
	"time"
)

// TestReceiptsOfSignedAnswersAndSettledRunsHold: of an answer that came, of one that was lost, of a
// key that was withdrawn by the service and by a person, of a refusal, and of one that a reviewer
// resolved; by the keys of the log, and by the reader's.
func TestReceiptsOfSignedAnswersAndSettledRunsHold(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"AUTOMATIC", "PROPOSE"} {
		b := newBank(t, time.Hour)
		w := banks(t, b, doc{"path": "/settlement", "mode": mode})
		w.viewer = w.principal(t, "VIEWER")
		signer := w.receiptKey(t)
		holds := func(id, status string, answers int) string {
			t.Helper()
			w.settles(t, id, status)
			text := receiptOf(t, w.Admin, id)
			v := w.judge(t, 0, text, "--key", signer).Is(t, "ok", true).Is(t, "status", status).Is(t, "summary", "valid")
			for i, a := range v.At("answers").Items() {
				a.Is(t, "keyFrom", "log")
				if i >= answers {
					t.Errorf("%d signed answers, want %d: %s", i+1, answers, v)
				}
			}
			w.judge(t, 0, text, "--answer-key", b.key).Is(t, "answers.0.keyFrom", "reader")
			w.judge(t, 1, text, "--answer-key", "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a").Is(t, "section", "run")
			return text
		}
		settle := func(id, state, action string) {
			t.Helper()
			if mode == "PROPOSE" {
				_, n := w.says(t, id, state)
				w.approver.Post("/runs/"+id+"/settle", doc{"stepId": "pay", "n": n, "action": action, "reason": "seen"}).OK(t)
			}
		}
		text := holds(w.run(t, step("pay", "pay", doc{"amount": 1}), step("read", "read", doc{})), "COMPLETED", 2)
		w.judge(t, 1, strings.Replace(text, `\"answerKeys\":[\"ed25519:`, `\"answerKeys\":[\"ed25518:`, 1)).Is(t, "section", "audit")

		b.line = "answer lost"
		id := w.run(t, step("pay", "pay", doc{"amount": 2}))
		settle(id, "DONE", "CONFIRM")
		holds(id, "COMPLETED", 1)
		b.status = 422
		id = w.run(t, step("pay", "pay", doc{"amount": 3}))
		settle(id, "DONE", "CONFIRM")
		holds(id, "FAILED", 1)
		b.status, b.line = 201, "never arrives"
		id = w.run(t, step("pay", "pay", doc{"amount": 4}))
		settle(id, "UNSEEN", "WITHDRAW")
		holds(id, "FAILED", 2)

		b.line, b.status = "", 422
		holds(w.run(t, step("pay", "pay", doc{"amount": 5})), "FAILED", 1)
	}
}

// TestTheReceiptOfARunWhoseReceiverDidntKnowHolds: a person said what became of it, and the
// statements are in the receipt.
func TestTheReceiptOfARunWhoseReceiverDidntKnowHolds(t *testing.T) {
	t.Parallel()
	b := newBank(t, 0)
	w := banks(t, b, doc{"path": "/settlement", "mode": "AUTOMATIC"})
	w.viewer = w.principal(t, "VIEWER")
	b.line = "never arrives"
	for resolution, status := range map[string]string{"CONFIRMED_NOT_EXECUTED": "FAILED", "ABANDON": "CANCELLED"} {
		id := w.run(t, step("pay", "pay", doc{"amount": 5}))
		w.says(t, id, "UNKNOWN")
		w.approver.Post("/runs/"+id+"/reconcile", reconcile(resolution, nil)).OK(t).Is(t, "status", status)
		w.holds(t, w.Admin, id).Is(t, "summary", "valid").Is(t, "answers.0.statement", 1)
	}
}
