package signature

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"
)

// TestASignedAnswerIsRefusedForWhatIsWrongWithIt reads each message. What is signed, byte for
// byte, is in the vectors of package receiver.
func TestASignedAnswerIsRefusedForWhatIsWrongWithIt(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	public := key.Public().(ed25519.PublicKey)
	a := Answer{IdempotencyKey: "run-1.refund", Timestamp: "1767225600", Method: "POST", PathAndQuery: "/", Status: 200}
	good, err := SignAnswer(key, a, time.Unix(1767225603, 0))
	if err != nil {
		t.Fatal(err)
	}
	if by, err := VerifyAnswer([]ed25519.PublicKey{public}, a, []string{good}); err != nil || by.KeyID != AnswerKeyID(public) || by.At.Unix() != 1767225603 {
		t.Fatalf("%v, %v", by, err)
	}
	broken := a
	broken.PathAndQuery = "/\n"
	other := a
	other.Status = 201
	for _, test := range []struct {
		answer  Answer
		headers []string
		want    string
	}{
		{a, nil, "the answer has no X-Runtime-Answer"},
		{a, []string{good, good}, "X-Runtime-Answer is not `v1 <unix seconds> <128 lowercase hex digits>`, once"},
		{a, []string{strings.ToUpper(good)}, "X-Runtime-Answer is not `v1 <unix seconds> <128 lowercase hex digits>`, once"},
		{other, []string{good}, "X-Runtime-Answer was made by none of the keys, or of another answer"},
		{broken, []string{good}, "a signed part holds a line break"},
	} {
		if _, err := VerifyAnswer([]ed25519.PublicKey{public}, test.answer, test.headers); err == nil || err.Error() != test.want {
			t.Errorf("%v\nnot %s", err, test.want)
		}
	}
}

func TestAnAnswerKeyIsOneThatItsHolderAloneCanSignFor(t *testing.T) {
	public := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	if key, err := ParseAnswerKey(AnswerKeyText(public)); err != nil || !key.Equal(public) {
		t.Errorf("%v, %v", key, err)
	}
	for text, want := range map[string]string{
		strings.ToUpper(AnswerKeyText(public)):       "an answer key is `ed25519:` and 64 lowercase hex digits",
		AnswerKeyText(public)[8:]:                    "an answer key is `ed25519:` and 64 lowercase hex digits",
		AnswerKeyText(public) + "\n":                 "an answer key is `ed25519:` and 64 lowercase hex digits",
		"ed25519:01" + strings.Repeat("00", 31):      "anybody can sign for this Ed25519 key: its order is small",
		"ed25519:" + strings.Repeat("ff", 31) + "7f": "an Ed25519 key is not in the one form that it has",
	} {
		if _, err := ParseAnswerKey(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
