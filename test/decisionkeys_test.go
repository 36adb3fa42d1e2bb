package test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	encoding "encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/authenticator"
	"github.com/countersign/countersign/test/harness"
)

const keyOrigin = "http://localhost:8080"

// signer is an approver with a passkey.
type signer struct {
	*harness.Browser
	w      *world
	device *authenticator.Authenticator
}

func (w *world) signer(t *testing.T, email string) *signer {
	t.Helper()
	s := &signer{w.person(t, email, "APPROVER"), w, authenticator.New(t, keyOrigin, "localhost")}
	s.registers(t, email)
	return s
}

// registers adds the device as a passkey of who signed in.
func (s *signer) registers(t *testing.T, email string) {
	t.Helper()
	form := s.w.csrfField(t, s.Browser)
	question, options := asksForPasskey(t, s.Browser, "/settings/passkeys/ask", form)
	form.Set("question", question)
	form.Set("answer", s.device.Create(options))
	form.Set("name", "key of "+email)
	if p := s.Submit("/settings/passkeys", form); p.Status != 200 {
		t.Fatalf("%d %s", p.Status, p.Text)
	}
}

// challenge is what the manual says that is signed.
func challenge(approval, digest, decision, reason string) []byte {
	why := sha256.Sum256([]byte(reason))
	sum := sha256.Sum256([]byte("countersign decision v1\n" + approval + "\n" + digest + "\n" + decision + "\n" + hex.EncodeToString(why[:])))
	return sum[:]
}

// signs is a decision with its assertion.
func (s *signer) signs(a json, decision, reason string) doc {
	return answered(decision, reason, s.device.Sign(challenge(a.At("id").Text(), a.At("requestDigest").Text(), decision, reason)))
}

func answered(decision, reason string, a countersign.SignedAnswer) doc {
	return doc{"decision": decision, "reason": reason, "assertion": a}
}

func (s *signer) decides(t *testing.T, a json, d doc) *harness.Answer {
	t.Helper()
	return s.w.decision(t, s.Browser, a.At("id").Text(), d)
}

// signedWorld is one whose tenant asks for signatures.
func signedWorld(t *testing.T, settings ...harness.Setting) *world {
	t.Helper()
	w := ownWorld(t, append(settings, harness.Set("PUBLIC_URL", keyOrigin))...)
	w.Admin.Put("/settings", doc{"decisionAssertion": "PASSKEY", "reason": "policy 7.2"}).OK(t).Is(t, "revision", 1)
	w.shop.On("POST", "/refunds", harness.Answering(200, `{"ok":true,"amount":10.10}`))
	return w
}

func (w *world) refundAsked(t *testing.T) json {
	t.Helper()
	return w.approval(t, w.run(t, refunding()["steps"].([]any)[0].(doc)))
}

func TestSettingsAreKeptByRevisionAndTellWhatTheyWeaken(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, harness.Set("PUBLIC_URL", keyOrigin))
	w.viewer.Get("/settings").OK(t).Is(t, "decisionAssertion", "NONE").Is(t, "revision", 0).Is(t, "tenantId", "default")
	write := doc{"decisionAssertion": "PASSKEY", "reason": "policy 7.2"}
	w.approver.Put("/settings", write).Refused(t, "role_required")
	w.Admin.Put("/settings", harness.With(write, "reason", " ")).Refused(t, "invalid_request", "reason")
	w.Admin.Put("/settings", harness.With(write, "decisionAssertion", "FACE")).Refused(t, "invalid_request", "decisionAssertion")
	w.Admin.Put("/settings", write).OK(t).Is(t, "revision", 1).Is(t, "decisionAssertion", "PASSKEY")
	if w.weakens(t, "tenant/default") {
		t.Error("asking for signatures weakens nothing")
	}
	w.Admin.Put("/settings", write).Refused(t, "revision_conflict", "1")
	w.Admin.Put("/settings", doc{"decisionAssertion": "NONE", "reason": "lost keys", "expectedRevision": 1}).OK(t).Is(t, "revision", 2)
	if !w.weakens(t, "tenant/default") {
		t.Error("asking for no signatures any more weakens the gate")
	}
	w.Admin.Get("/audit?action=settings.write").OK(t).Is(t, "items.0.before", "decisionAssertion PASSKEY").Is(t, "items.0.after", "decisionAssertion NONE").Is(t, "items.0.reason", "lost keys")
}

func TestSignaturesAreNotAskedForWhereBrowsersAllowNoPasskeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admin.Put("/settings", doc{"decisionAssertion": "PASSKEY", "reason": "r"}).Refused(t, "state_conflict", "https")
}

func TestAnApprovalIsSignedWithAPasskeyWhereTheTenantWantsIt(t *testing.T) {
	t.Parallel()
	w := signedWorld(t)
	ada := w.signer(t, "ada@example.com")
	a := w.refundAsked(t).Is(t, "decisionAssertion", "PASSKEY")
	run := a.At("runId").Text()
	for name, r := range map[string]*harness.Answer{
		"a token":   w.approver.Post("/approvals/"+a.At("id").Text()+"/decision", approved),
		"a session": ada.decides(t, a, approved),
	} {
		if r.Refused(t, "assertion_required", "console"); r.Status != 403 {
			t.Errorf("%s: %d", name, r.Status)
		}
	}
	w.approver.Post("/approvals/"+a.At("id").Text()+"/decision", ada.signs(a, "APPROVED", "seen")).Refused(t, "assertion_invalid", "session")
	ada.decides(t, a, ada.signs(a, "APPROVED", "seen")).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.assertion.rpId", "localhost")
	w.reaches(t, run, "COMPLETED")
	log := w.Admin.Get("/audit?action=passkeys.create").OK(t)
	decision := w.Admin.Get("/audit?action=approvals.decide&subject=run/" + run).OK(t)
	decision.Is(t, "items.0.assertion.publicKey", log.At("items.0.passkey.publicKey")).Is(t, "items.0.assertion.registration", log.At("items.0.seq")).Is(t, "items.0.actor", "user:ada@example.com")
	w.Admin.Get("/audit?action=approval.request&subject=run/"+run).OK(t).Is(t, "items.0.decisionAssertion", "PASSKEY")
	w.holds(t, w.viewer, run).Is(t, "status", "COMPLETED").Is(t, "approved", 1)

	rejected := w.refundAsked(t)
	w.approver.Post("/approvals/"+rejected.At("id").Text()+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	w.reaches(t, rejected.At("runId").Text(), "FAILED")
	w.holds(t, w.viewer, rejected.At("runId").Text())

	signed := w.refundAsked(t)
	ada.decides(t, signed, ada.signs(signed, "REJECTED", "no")).OK(t).Is(t, "decisions.0.assertion.rpId", "localhost")
	w.reaches(t, signed.At("runId").Text(), "FAILED")
	w.holds(t, w.viewer, signed.At("runId").Text())
}

func TestASignatureIsOfThisDecisionByThisPersonOnThisPage(t *testing.T) {
	t.Parallel()
	w := signedWorld(t)
	ada, eve := w.signer(t, "ada@example.com"), w.signer(t, "eve@example.com")
	a, other := w.refundAsked(t), w.refundAsked(t)
	id, digest := a.At("id").Text(), a.At("requestDigest").Text()
	good := func() countersign.SignedAnswer { return ada.device.Sign(challenge(id, digest, "APPROVED", "seen")) }
	spoilt := func(change func(*countersign.SignedAnswer)) countersign.SignedAnswer {
		answer := good()
		change(&answer)
		return answer
	}
	device := *ada.device
	elsewhere, unverified, party := device, device, device
	elsewhere.Origin, unverified.Unverified, party.RPID = "http://localhost:9999", true, "example.com"
	right := challenge(id, digest, "APPROVED", "seen")
	for name, answer := range map[string]countersign.SignedAnswer{
		"another approval":      ada.device.Sign(challenge(other.At("id").Text(), other.At("requestDigest").Text(), "APPROVED", "seen")),
		"another request":       ada.device.Sign(challenge(id, strings.Repeat("0", 64), "APPROVED", "seen")),
		"another decision":      ada.device.Sign(challenge(id, digest, "REJECTED", "seen")),
		"another reason":        ada.device.Sign(challenge(id, digest, "APPROVED", "seen.")),
		"somebody else's key":   eve.device.Sign(right),
		"another's signature":   spoilt(func(s *countersign.SignedAnswer) { s.Signature = eve.device.Sign(right).Signature }),
		"an unknown key":        spoilt(func(s *countersign.SignedAnswer) { s.CredentialID = "AAAA" }),
		"another page":          elsewhere.Sign(right),
		"an unverified user":    unverified.Sign(right),
		"another relying party": party.Sign(right),
		"an altered signature":  spoilt(func(s *countersign.SignedAnswer) { s.Signature = "AA" + s.Signature }),
		"another spelling":      spoilt(func(s *countersign.SignedAnswer) { s.Signature += "=" }),
		"no data":               spoilt(func(s *countersign.SignedAnswer) { s.AuthenticatorData = "" }),
		"a sign-in": spoilt(func(s *countersign.SignedAnswer) {
			s.ClientDataJSON = base64.RawURLEncoding.EncodeToString([]byte(`{"type":"webauthn.get"}`))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			ada.decides(t, a, answered("APPROVED", "seen", answer)).Refused(t, "assertion_invalid")
		})
	}
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "status", "PENDING").Is(t, "decisions", harness.Absent)
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	ada.decides(t, a, answered("APPROVED", "seen", good())).OK(t)
	ada.decides(t, a, answered("APPROVED", "seen", good())).Refused(t, "state_conflict")
}

func TestACounterOfADecisionMustRise(t *testing.T) {
	t.Parallel()
	w := signedWorld(t)
	ada := w.signer(t, "ada@example.com")
	first, second := w.refundAsked(t), w.refundAsked(t)
	ada.device.Counter = 7
	ada.decides(t, first, ada.signs(first, "APPROVED", "seen")).OK(t)
	ada.decides(t, second, ada.signs(second, "APPROVED", "seen")).Refused(t, "assertion_invalid", "assertion: the counter of the passkey key of ada@example.com has not risen, so it may have been copied; approve with another one")
	ada.device.Counter = 8
	ada.decides(t, second, ada.signs(second, "APPROVED", "seen")).OK(t)
}

// TestWhatAnApprovalAskedForStays, though the setting is loosened; a tightened one counts at once.
func TestWhatAnApprovalAskedForStays(t *testing.T) {
	t.Parallel()
	w := signedWorld(t)
	ada := w.signer(t, "ada@example.com")
	a := w.refundAsked(t)
	w.Admin.Put("/settings", doc{"decisionAssertion": "NONE", "reason": "r", "expectedRevision": 1}).OK(t)
	ada.decides(t, a, approved).Refused(t, "assertion_required")
	ada.decides(t, a, ada.signs(a, "APPROVED", "seen")).OK(t)
	free := w.refundAsked(t).Is(t, "decisionAssertion", harness.Absent)
	w.Admin.Put("/settings", doc{"decisionAssertion": "PASSKEY", "reason": "r", "expectedRevision": 2}).OK(t)
	ada.decides(t, free, approved).Refused(t, "assertion_required")
	ada.decides(t, free, ada.signs(free, "APPROVED", "seen")).OK(t)
	for _, of := range []json{a, free} {
		w.reaches(t, of.At("runId").Text(), "COMPLETED")
		w.holds(t, w.viewer, of.At("runId").Text())
	}
}

// TestAPasskeyThatIsGoneSignsNothing, nor one of another tenant or of who was removed.
func TestAPasskeyThatIsGoneSignsNothing(t *testing.T) {
	t.Parallel()
	w := signedWorld(t)
	ada := w.signer(t, "ada@example.com")
	a := w.refundAsked(t)
	w.Admin.Delete("/users/ada@example.com").OK(t)
	again := w.person(t, "ada@example.com", "APPROVER")
	w.decision(t, again, a.At("id").Text(), ada.signs(a, "APPROVED", "seen")).Refused(t, "assertion_invalid", "no passkey of yours")
}

func TestTheApprovalsPageSaysWhatItSigns(t *testing.T) {
	t.Parallel()
	w := signedWorld(t)
	bare := w.person(t, "ben@example.com", "APPROVER")
	ada := w.signer(t, "ada@example.com")
	a := w.refundAsked(t)
	path := "/approvals/" + a.At("id").Text()
	if p := bare.Open(path); !strings.Contains(p.Text, "/console/settings#passkeys") || !strings.Contains(p.Text, "You have no passkey") {
		t.Error("who has no passkey isn't told where to add one")
	}
	answer := ada.device.Sign(challenge(a.At("id").Text(), a.At("requestDigest").Text(), "APPROVED", "seen\r\nand checked"))
	text, err := encoding.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if p := ada.Open(path); !strings.Contains(p.Text, a.At("requestDigest").Text()) || !strings.Contains(p.Text, answer.CredentialID) || !strings.Contains(p.Text, "/console/assets/passkey.js") {
		t.Error("the page lacks what its script signs by")
	}
	form := w.csrfField(t, ada.Browser)
	form.Set("decision", "APPROVED")
	form.Set("reason", "seen\r\nand checked")
	if p := ada.Submit(path+"/decision", form); p.Status != 403 || !strings.Contains(p.Text, "seen") || !strings.Contains(p.Text, "passkey") {
		t.Errorf("without the script: %d", p.Status)
	}
	form.Set("assertion", `{"credentialId":7}`)
	if p := ada.Submit(path+"/decision", form); p.Status != 403 {
		t.Errorf("no answer of a browser: %d", p.Status)
	}
	form.Set("assertion", string(text))
	if p := ada.Submit(path+"/decision", form); p.Status != 200 {
		t.Errorf("%d %s", p.Status, p.Text)
	}
	w.reaches(t, a.At("runId").Text(), "COMPLETED")
	if p := ada.Open(path); !strings.Contains(p.Text, "signed with a passkey") {
		t.Error("the page doesn't show that it was signed")
	}
}
