package receipt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/assertion"
)

var (
	rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })
	text64 = base64.RawURLEncoding.EncodeToString
)

// misuse is what a passkey or its browser does that it must not, in one way.
type misuse struct {
	client func(map[string]any)
	text   func(string) string // of the client's data
	data   func([]byte) []byte
	about  func(*assertion.Decision)
	key    crypto.Signer
}

// misuses are signed as well as can be, and don't count.
func misuses(t *testing.T) map[string]misuse {
	t.Helper()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any) misuse {
		return misuse{client: func(m map[string]any) { m[name] = value }}
	}
	flags := func(flags byte) misuse {
		return misuse{data: func(b []byte) []byte { b[32] = flags; return b[:37] }}
	}
	return map[string]misuse{
		"another approval": {about: func(d *assertion.Decision) { d.ApprovalID += "x" }},
		"another request":  {about: func(d *assertion.Decision) { d.RequestDigest = strings.Repeat("0", 64) }},
		"another decision": {about: func(d *assertion.Decision) { d.Decision = "MAYBE" }},
		"another reason":   {about: func(d *assertion.Decision) { d.Reason += " " }},
		"a registration":   set("type", "webauthn.create"), "no origin": set("origin", nil), "another page": set("origin", "https://evil.example"),
		"a page below": set("origin", "https://x.countersign.example.com"), "no port": set("origin", "https://countersign.example.com:"), "a path": set("origin", "https://countersign.example.com/"),
		"without TLS": set("origin", "http://countersign.example.com"), "a frame": set("crossOrigin", true), "another kind of frame": set("crossOrigin", "false"), "a page on top": set("topOrigin", nil),
		"the challenge as a number": set("challenge", 7),
		"a key twice":               {text: func(s string) string { return strings.Replace(s, `{`, `{"type":"webauthn.create",`, 1) }},
		"a key twice, escaped":      {text: func(s string) string { return strings.Replace(s, `{`, `{"typ\u0065":"webauthn.create",`, 1) }},
		"more behind it":            {text: func(s string) string { return s + "{}" }},
		"a list":                    {text: func(s string) string { return "[" + s + "]" }},
		"a byte order mark":         {text: func(s string) string { return "\ufeff" + s }},
		"no UTF-8":                  {text: func(s string) string { return strings.Replace(s, `}`, ",\"x\":\"\xff\"}", 1) }},
		"not present":               flags(0x04), "not verified": flags(0x01), "attested": flags(0x45), "backed up, though it can't be": flags(0x15),
		"more data":             {data: func(b []byte) []byte { b[32] = 0x05; return append(b, 0) }},
		"too short":             {data: func(b []byte) []byte { return b[:36] }},
		"another relying party": {data: func(b []byte) []byte { b[0] ^= 1; return b }},
		"a small RSA key":       {key: small}, "another curve": {key: other},
	}
}

// misusedRuns are receipts that one misuse of a passkey makes invalid.
func misusedRuns(t *testing.T, judge func(how string, file []byte)) {
	t.Helper()
	seed := uint64(0)
	for ; ; seed++ {
		f := draw(t, seed)
		if !f.Masked && slices.ContainsFunc(f.Approvals, func(a countersign.Approval) bool {
			return a.DecisionAssertion != "" && a.Status == countersign.ApprovalApproved && a.Decisions[0].Assertion.RPID == "countersign.example.com"
		}) {
			break
		}
	}
	for how, m := range misuses(t) {
		judge("a passkey's "+how, built(t, drawMisused(t, seed, m), keyOf(1)))
	}
}

func TestNoMisuseOfAPasskeyMakesAReceipt(t *testing.T) {
	misusedRuns(t, func(how string, file []byte) {
		if v := Verify(file, public(keyOf(1))); v.OK || v.Section != Audit || !strings.Contains(v.Problem, "does not hold") {
			t.Errorf("%s: %t %s %s", how, v.OK, v.Section, v.Problem)
		}
	})
}

// passkey draws a key of each kind that passkeys have.
func (d *drawn) passkey() crypto.Signer {
	kind := d.IntN(8)
	if d.misuse.key != nil {
		_ = d.Uint64() // what is drawn next is the same
		return d.misuse.key
	}
	switch kind {
	case 0:
		return d.key()
	case 1:
		key, err := rsaKey()
		if err != nil {
			d.t.Fatal(err)
		}
		return key
	}
	seed := sha256.Sum256(fmt.Append(nil, d.Uint64()))
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	if err != nil {
		d.t.Fatal(err)
	}
	return key
}

// sign signs the decisions of an approval that people gave, each with a passkey that its decider
// registered before, and some rejections.
func (d *drawn) sign(a *countersign.Approval) {
	at := len(d.log) - len(a.Decisions) // of the first decision's record
	for i := range a.Decisions {
		g := &a.Decisions[i]
		if g.By == countersign.SystemPrincipal || g.Decision == countersign.ApprovalRejected && d.IntN(2) == 0 {
			continue
		}
		key := d.passkey()
		spki, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			d.t.Fatal(err)
		}
		g.Assertion = d.assert(key, assertion.Decision{ApprovalID: a.ID, RequestDigest: a.RequestDigest, StateDigest: g.StateDigest, Decision: g.Decision, Reason: g.Reason})
		g.Assertion.PublicKey = text64(spki)
		d.log[at+i].Assertion = g.Assertion
	}
	for _, g := range slices.Backward(a.Decisions) { // in front of them: the places behind stay
		if g.Assertion != nil {
			d.log = slices.Insert(d.log, at, countersign.AuditRecord{
				At: a.RequestedAt, Actor: g.By, Action: "passkeys.create", Subject: "user/" + strings.TrimPrefix(g.By, "user:"), Outcome: countersign.AuditDone, After: "passkey phone",
				Passkey: &countersign.PasskeyRegistration{CredentialID: g.Assertion.CredentialID, PublicKey: g.Assertion.PublicKey, RPID: g.Assertion.RPID}, RequestID: "req-1",
			})
		}
	}
}

func (d *drawn) assert(key crypto.Signer, about assertion.Decision) *countersign.Assertion {
	if d.misuse.about != nil {
		d.misuse.about(&about)
	}
	rpID := pick(d, "countersign.example.com", "localhost", "a.localhost")
	origin := "https://" + rpID + pick(d, "", ":8443")
	if strings.HasSuffix(rpID, "localhost") {
		origin = "http://" + rpID + pick(d, "", ":8080")
	}
	client := map[string]any{"type": "webauthn.get", "challenge": text64(about.Challenge()), "origin": origin}
	if d.IntN(2) == 0 {
		client["crossOrigin"] = false
	}
	if d.IntN(4) == 0 {
		client["other_keys_can_be_added_here"] = "é \" \\ 😀"
	}
	if d.misuse.client != nil {
		d.misuse.client(client)
	}
	written, err := json.Marshal(client)
	if err != nil {
		d.t.Fatal(err)
	}
	if d.misuse.text != nil {
		written = []byte(d.misuse.text(string(written)))
	}
	hash := sha256.Sum256([]byte(rpID))
	data := append(hash[:], pick(d, byte(0x05), 0x0d, 0x1d), 0, 0, 0, byte(d.IntN(9)))
	if d.IntN(4) == 0 {
		data[32] |= 0x80
		data = append(data, 0xa0)
	}
	if d.misuse.data != nil {
		data = d.misuse.data(data)
	}
	return &countersign.Assertion{
		SignedAnswer: countersign.SignedAnswer{
			CredentialID: text64(fmt.Append(nil, "key ", d.Uint64())), AuthenticatorData: text64(data), ClientDataJSON: text64(written), Signature: text64(d.signature(key, data, written)),
		},
		RPID: rpID,
	}
}

// signature is the same each time for the same key: a drawn receipt is one.
func (d *drawn) signature(key crypto.Signer, data, client []byte) []byte {
	hash := sha256.Sum256(client)
	text := append(slices.Clone(data), hash[:]...)
	digest, of := sha256.Sum256(text), crypto.SHA256
	signed := digest[:]
	if _, whole := key.(ed25519.PrivateKey); whole {
		signed, of = text, 0
	}
	signature, err := key.Sign(nil, signed, of)
	if err != nil {
		d.t.Fatal(err)
	}
	return signature
}

// registered puts the number of a registration's record into the assertion of its key.
func (d *drawn) registered(credential string, seq int64) {
	for _, a := range d.facts.Approvals {
		for _, g := range a.Decisions {
			if g.Assertion != nil && g.Assertion.CredentialID == credential {
				g.Assertion.Registration = seq
			}
		}
	}
	for i := range d.log { // of masked decisions, too
		if g := d.log[i].Assertion; g != nil && g.CredentialID == credential {
			g.Registration = seq
		}
	}
}

// signedRun draws a run that completed with an approval that had to be signed.
func signedRun(t *testing.T) (f Facts, approval int) {
	t.Helper()
	for seed := range uint64(2000) {
		f = draw(t, seed)
		approval = slices.IndexFunc(f.Approvals, func(a countersign.Approval) bool {
			return a.DecisionAssertion != "" && a.Status == countersign.ApprovalApproved && len(a.Decisions) == 1
		})
		if approval >= 0 && !f.Masked {
			return f, approval
		}
	}
	t.Fatal("no run has one")
	return f, 0
}

// TestAReceiptLacksNoSignatureThatItsApprovalAskedFor, whoever has the key of the receipts.
func TestAReceiptLacksNoSignatureThatItsApprovalAskedFor(t *testing.T) {
	f, at := signedRun(t)
	if v := Verify(built(t, f, keyOf(1)), public(keyOf(1))); !v.OK {
		t.Fatal(v.Problem)
	}
	for name, spoil := range map[string]func(*countersign.Approval){
		"the assertion is left out":      func(a *countersign.Approval) { a.Decisions[0].Assertion = nil },
		"and that it was asked for, too": func(a *countersign.Approval) { a.Decisions[0].Assertion, a.DecisionAssertion = nil, "" },
		"what asks for it is left out":   func(a *countersign.Approval) { a.DecisionAssertion = "" },
		"of an unknown kind":             func(a *countersign.Approval) { a.DecisionAssertion = "FACE" },
		"another signature":              func(a *countersign.Approval) { a.Decisions[0].Assertion.Signature = "AAAA" },
	} {
		f, at := signedRun(t)
		spoil(&f.Approvals[at])
		if v := Verify(built(t, f, keyOf(1)), public(keyOf(1))); v.OK {
			t.Errorf("%s: it verifies", name)
		}
	}
	f.Approvals[at].Decisions[0].Assertion.Registration++
	if v := Verify(built(t, f, keyOf(1)), public(keyOf(1))); v.OK {
		t.Error("without the record of the registration it verifies")
	}
}

// alone puts the records into a log that has no others, so that they can be altered.
func alone(f Facts, alter func(texts []string) []string) Facts {
	var texts []string
	moved := map[int64]int64{}
	for _, r := range f.Log.Records {
		texts = append(texts, r.Text)
	}
	texts = alter(texts)
	for i, text := range texts {
		moved[seqOf(text)] = int64(i)
	}
	var approvals []countersign.Approval
	for _, a := range f.Approvals {
		a.Decisions = slices.Clone(a.Decisions)
		for i, g := range a.Decisions {
			if g.Assertion != nil {
				renumbered := *g.Assertion
				renumbered.Registration = moved[renumbered.Registration]
				a.Decisions[i].Assertion = &renumbered
			}
		}
		approvals = append(approvals, a)
	}
	f.Approvals, f.Log.Records = approvals, make([]Record, len(texts))
	var leaves []tlog.Hash
	for i, text := range texts {
		text = fmt.Sprintf(`{"seq":%d,%s`, i, seqForm.ReplaceAllString(text, ""))
		f.Log.Records[i].Text = text
		leaves = append(leaves, tlog.RecordHash([]byte(text)))
	}
	relog(&f, leaves)
	return f
}

// TestASignatureCountsFromItsRegistrationOn: a service that forges a decision together with its
// records still can't put the registration after it, or into another's name.
func TestASignatureCountsFromItsRegistrationOn(t *testing.T) {
	f, at := signedRun(t)
	made := fmt.Sprintf(`{"seq":%d,`, f.Approvals[at].Decisions[0].Assertion.Registration)
	replaced := func(old, by string) func([]string) []string {
		return func(texts []string) []string {
			i := slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(text, made) })
			if !strings.Contains(texts[i], old) {
				t.Fatal(texts[i])
			}
			texts[i] = strings.Replace(texts[i], old, by, 1)
			return texts
		}
	}
	for name, test := range map[string]struct {
		alter func([]string) []string
		want  bool
	}{
		"as it was":             {func(texts []string) []string { return texts }, true},
		"by another":            {replaced(`"actor":"user:`, `"actor":"user:x`), false},
		"for another":           {replaced(`"subject":"user/`, `"subject":"user/x`), false},
		"refused":               {replaced(`"outcome":"done"`, `"outcome":"refused: quota_exceeded"`), false},
		"another action":        {replaced(`"passkeys.create"`, `"passkeys.delete"`), false},
		"another key":           {replaced(`"publicKey":"M`, `"publicKey":"N`), false},
		"another credential":    {replaced(`"credentialId":"`, `"credentialId":"A`), false},
		"another relying party": {replaced(`"rpId":"`, `"rpId":"x`), false},
		"after the decision": {func(texts []string) []string {
			i := slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(text, made) })
			return append(slices.Delete(slices.Clone(texts), i, i+1), texts[i])
		}, false},
	} {
		if v := Verify(built(t, alone(f, test.alter), keyOf(1)), public(keyOf(1))); v.OK != test.want {
			t.Errorf("%s: it verifies: %t; %s", name, v.OK, v.Problem)
		}
	}
}

var assertionMember = regexp.MustCompile(`,"assertion":\{[^}]*\}`)

// TestAnUnsignedApprovalMakesNoReceiptWhereSignaturesWereAskedFor: the service forges the decision
// and its record, neither of which is signed.
func TestAnUnsignedApprovalMakesNoReceiptWhereSignaturesWereAskedFor(t *testing.T) {
	for wants, valid := range map[string]bool{countersign.DecisionAssertionPasskey: false, "": true} {
		f, _ := signedRun(t)
		for i := range f.Approvals {
			a := &f.Approvals[i]
			if wants == "" {
				a.DecisionAssertion = ""
			}
			for j := range a.Decisions {
				a.Decisions[j].Assertion = nil
			}
		}
		g := alone(f, func(texts []string) []string {
			texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(text, `"passkeys.create"`) })
			for i, text := range texts {
				texts[i] = assertionMember.ReplaceAllString(text, "")
				if wants == "" {
					texts[i] = strings.ReplaceAll(texts[i], `,"decisionAssertion":"PASSKEY"`, "")
				}
			}
			return texts
		})
		if v := Verify(built(t, g, keyOf(1)), public(keyOf(1))); v.OK != valid {
			t.Errorf("asked for %q: it verifies: %t; %s", wants, v.OK, v.Problem)
		}
	}
}
