package outbound

import (
	"crypto/ed25519"
	"encoding/base64"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/request"
)

// signedBy says of the outcome of a call to a project with answer keys whose word the answer is. A
// whole answer that none of the keys signed is nobody's: it says nothing of what was done,
// whatever its status (contract 12.6).
func signedBy(o *request.Outcome, a answer, m message, call request.Call, secrets masker) {
	if len(call.AnswerKeys) == 0 || !a.sent || !a.head {
		return
	}
	if a.err != nil { // no signature covers a part of an answer
		o.Unsigned, o.Certainty = o.Certainty == request.Returned, request.Unknown
		o.Cause = causeOf(a.err)
		return
	}
	by, err := signature.VerifyAnswer(publicKeys(call.AnswerKeys), m.answer(a), a.signatures)
	if err != nil {
		o.Unsigned, o.Certainty = true, request.Unknown
		o.Cause = "the receiver answered " + strconv.Itoa(a.status) + ", and nothing shows that it was the receiver: " + err.Error()
		o.Response.Body = said(a.body, secrets, true)
		return
	}
	o.AnsweredBy = &countersign.AnsweredBy{KeyID: by.KeyID, At: by.At}
	if secrets.occursIn(string(a.body)) {
		return // it can't be kept as it came
	}
	o.Response.Signed = &countersign.AnswerEvidence{Timestamp: a.timestamp, Signature: a.signatures[0], BodyBase64: base64.StdEncoding.EncodeToString(a.body)}
}

// answer are the parts that a receiver signs of its answer to the message.
func (m *message) answer(a answer) signature.Answer {
	return signature.Answer{
		IdempotencyKey: m.runtime[0].value, Timestamp: a.timestamp, Method: m.method, PathAndQuery: m.target,
		BodySHA256: signature.BodyHash([]byte(m.body)), Status: a.status, AnswerSHA256: signature.BodyHash(a.body),
	}
}

func publicKeys(texts []string) (keys []ed25519.PublicKey) {
	for _, text := range texts {
		if key, err := signature.ParseAnswerKey(text); err == nil { // registered ones are keys
			keys = append(keys, key)
		}
	}
	return keys
}
