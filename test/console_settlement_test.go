package test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// TestAReviewerGoesByTheAPIsWordOnTheRecoveryPage: what was done, and what was never seen.
func TestAReviewerGoesByTheAPIsWordOnTheRecoveryPage(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, doc{"path": "/settlement"})
	mara := w.person(t, "mara@example.com", "APPROVER")
	b.line = "answer lost"
	done := w.run(t, step("pay", "pay", doc{"amount": 5}))
	run, n := w.says(t, done, "DONE")
	p := mara.Open("/recovery/" + done)
	mustSay(t, p, 200, "The API’s signed word", "Yes, says the API, and signs it: done, answered with 201", run.At("steps.0.settlements.0.signature").Text(), "it holds: this is the API’s own word", "has forgotten nothing since", "As the API says", "The step fails: not executed, on your word")
	mustNotHold(t, p, "required checked")
	mustSay(t, mara.Open("/recovery"), 200, "the API’s word is there")
	settle := func(n int, action, reason string) url.Values {
		return url.Values{"stepId": {"pay"}, "n": {strconv.Itoa(n)}, "action": {action}, "reason": {reason}}
	}
	refused := submitted(t, mara, p, "/recovery/"+done+"/settle", settle(n, "CONFIRM", " "))
	mustSay(t, refused, 400, "Say why.")
	if ended := submitted(t, mara, p, "/recovery/"+done+"/settle", settle(n, "CONFIRM", "it signs that")); ended.URL.Path != "/console/runs/"+done {
		t.Errorf("it leads to %s: %d", ended.URL, ended.Status)
	}
	w.settles(t, done, "COMPLETED").Is(t, "steps.0.output.id", "p-1")
	mustSay(t, mara.Open("/recovery/"+done), 200, "It was settled by the API’s signed word.", run.At("steps.0.settlements.0.keyId").Text())
	mustSay(t, submitted(t, mara, p, "/recovery/"+done+"/settle", settle(n, "CONFIRM", "again")), 409, "state_conflict")

	b.line = "never arrives"
	gone := w.run(t, step("pay", "pay", doc{"amount": 6}))
	_, n = w.says(t, gone, "UNSEEN")
	p = mara.Open("/recovery/" + gone)
	mustSay(t, p, 200, "this key was never seen", "Have the key withdrawn", "asked again at")
	submitted(t, mara, p, "/recovery/"+gone+"/settle", settle(n, "WITHDRAW", "it must not happen later"))
	w.settles(t, gone, "FAILED").Is(t, "steps.0.error.code", "withdrawn")
	mustSay(t, mara.Open("/recovery/"+gone), 200, "No, says the API, and signs it: never seen, and the key is withdrawn")
	b.had(t, 1)
}

// TestTheFormOfAProjectHasItsAnswerKeysAndSettlement: as they stand, changed, and taken away.
func TestTheFormOfAProjectHasItsAnswerKeysAndSettlement(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, doc{"path": "/settlement", "mode": "AUTOMATIC"})
	ada := w.person(t, "ada@example.com", "ADMIN", "OPERATOR")
	save := func(keys, path, mode string) *harness.Page {
		t.Helper()
		p := ada.Open("/projects/" + shop + "/edit")
		revision := w.Admin.Get("/projects/" + shop).OK(t).At("revision").Int()
		return submitted(t, ada, p, "/projects/"+shop+"/edit", url.Values{
			"revision": {strconv.Itoa(revision)}, "name": {"Bank"}, "adapter": {"HTTP_JSON"}, "baseUrl": {b.URL}, "healthPath": {"/health"}, "auth.type": {"HMAC"}, "auth.credentialEnv": {harness.SecretEnv},
			"answerKeys": {keys}, "settlement.path": {path}, "settlement.mode": {mode},
		})
	}
	p := ada.Open("/projects/" + shop + "/edit")
	mustSay(t, p, 200, b.key, "Answer keys", "Settlement path")
	if !strings.Contains(p.Text, `value="/settlement"`) {
		t.Error("the path isn't in the form")
	}
	other := "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
	saved := save(b.key+"\n"+other, "/calls", "PROPOSE")
	if saved.URL.Path != "/console/projects/"+shop {
		t.Fatalf("it leads to %s: %d\n%s", saved.URL, saved.Status, saved.Text)
	}
	w.Admin.Get("/projects/"+shop).OK(t).Is(t, "answerKeys.0", b.key).Is(t, "answerKeys.1", other).Is(t, "settlement.path", "/calls").Is(t, "settlement.mode", "PROPOSE")
	mustSay(t, save("nonsense", "/calls", "PROPOSE"), 400, "ed25519:")
	save(b.key, "", "PROPOSE")
	w.Admin.Get("/projects/"+shop).OK(t).Is(t, "answerKeys.0", b.key).Is(t, "settlement", harness.Absent)
}
