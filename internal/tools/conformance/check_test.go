package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func compare(t *testing.T, r *Report, want string) {
	t.Helper()
	if diff := cmp.Diff(want, table(r)); diff != "" {
		t.Errorf("(-want +got):\n%s%+v", diff, r.Rules)
	}
}

const allHold = `accepts-signed HOLDS
refuses-unsigned HOLDS
refuses-wrong-signature HOLDS
refuses-changed-body HOLDS
refuses-changed-target HOLDS
refuses-old-timestamp HOLDS
refuses-future-timestamp HOLDS
same-key-same-body HOLDS
same-key-other-body HOLDS
slow-answer HOLDS
twins HOLDS
effect-once HOLDS
`

func TestARightReceiverKeepsEveryRule(t *testing.T) {
	b := &books{}
	r := played(t, against(serve(t, b)))
	compare(t, r, allHold)
	if !r.Proven || r.Broken() {
		t.Errorf("%+v", r)
	}
	if len(b.entries) != 3 {
		t.Errorf("%d effects, expected those of the first call, the slow one and the twins", len(b.entries))
	}
}

func TestAReceiverThatForgetsKeysIsFoundOut(t *testing.T) {
	r := played(t, against(serve(t, &books{forgetful: true})))
	compare(t, r, `accepts-signed HOLDS
refuses-unsigned HOLDS
refuses-wrong-signature HOLDS
refuses-changed-body HOLDS
refuses-changed-target HOLDS
refuses-old-timestamp HOLDS
refuses-future-timestamp HOLDS
same-key-same-body BROKEN
same-key-other-body BROKEN
slow-answer BROKEN
twins BROKEN
effect-once BROKEN
`)
	if r.Proven || !r.Broken() {
		t.Errorf("%+v", r)
	}
}

// Without a probe, only a request with another payload can show whether the receiver
// remembers keys. Equal answers to all requests prove nothing.
func TestAnswersThatAreAllAlikeProveNothing(t *testing.T) {
	r := played(t, against(serve(t, &books{forgetful: true, blurred: true})))
	if got := r.of("same-key-same-body").Verdict; got != "HOLDS" || r.Proven {
		t.Errorf("%s, %+v", got, r)
	}
	if got := r.of("effect-once").Verdict; got != "BROKEN" {
		t.Error(got)
	}
}

func TestAReceiverThatChecksNoSignatureIsFoundOut(t *testing.T) {
	r := played(t, against(serve(t, &books{unchecked: true})))
	compare(t, r, `accepts-signed HOLDS
refuses-unsigned BROKEN
refuses-wrong-signature BROKEN
refuses-changed-body BROKEN
refuses-changed-target BROKEN
refuses-old-timestamp BROKEN
refuses-future-timestamp BROKEN
same-key-same-body HOLDS
same-key-other-body HOLDS
slow-answer HOLDS
twins HOLDS
effect-once HOLDS
`)
}
