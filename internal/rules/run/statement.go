package run

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// Statement reads the answer to a question about a key as a record of the step: what the receiver
// says, as far as it counts. It decides nothing by itself.
func Statement(o request.Outcome, key string, sent time.Time) countersign.SettlementRecord {
	r := countersign.SettlementRecord{Valid: o.AnsweredBy != nil}
	if o.AnsweredBy != nil {
		r.KeyID = o.AnsweredBy.KeyID
	}
	if o.Response != nil && o.Response.Signed != nil {
		r.Signed = o.Response.Signed
		r.Signature = r.Signed.Signature[strings.LastIndexByte(r.Signed.Signature, ' ')+1:]
	}
	r.Error = noStatement(o)
	if o.Body.IsZero() || o.Response == nil || o.Response.StatusCode != 200 {
		r.Valid = false
		return r
	}
	if problem := readStatement(&r, o.Body, key); problem != "" {
		r.Valid, r.State, r.Error = false, "", problem
		return r
	}
	if (r.State == countersign.KeyUnseen || r.State == countersign.KeyWithdrawn) && !remembers(r.Since, sent) {
		r.Said, r.State = r.State, countersign.KeyUnknown
	}
	return r
}

// noStatement says why an answer is none, "" for one that may be.
func noStatement(o request.Outcome) string {
	switch {
	case o.Unsigned || o.Certainty != request.Returned:
		return uncertainCause(o)
	case o.Response == nil || o.Response.StatusCode != 200:
		return "the receiver answered " + strconv.Itoa(statusOf(o)) + " where it was asked what became of the key"
	}
	return ""
}

func statusOf(o request.Outcome) int {
	if o.Response == nil {
		return 0
	}
	return o.Response.StatusCode
}

// remembers reports a memory that has forgotten nothing since before the first sending could have
// been made by any clock.
func remembers(since, sent time.Time) bool {
	return !since.IsZero() && since.Before(sent.Add(-countersign.SignatureWindow))
}

// readStatement reads the members; others are ignored.
func readStatement(r *countersign.SettlementRecord, body countersign.Value, key string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(body.Raw()), &m) != nil {
		return "the statement is no JSON object"
	}
	text := func(name string) (s string) {
		_ = json.Unmarshal(m[name], &s) // what is no text is ""
		return s
	}
	if said := text("key"); said != key {
		return "the statement is about another key"
	}
	r.State = text("state")
	switch r.State {
	case countersign.KeyDone, countersign.KeyInProgress, countersign.KeyUnknown, countersign.KeyUnseen, countersign.KeyWithdrawn:
	default:
		return "the statement names no state that is known here"
	}
	if since, err := countersign.ParseInstant(text("since")); err == nil {
		r.Since = since.UTC()
	}
	if r.State != countersign.KeyDone {
		return ""
	}
	if json.Unmarshal(m["statusCode"], &r.StatusCode) != nil || r.StatusCode < 200 || r.StatusCode > 599 {
		return "the statement has no statusCode of the kept answer"
	}
	if kept, is := m["body"]; is {
		r.Output = countersign.RawValue(string(kept))
	} else {
		r.Text = text("text")
	}
	return ""
}

// kept is the kept answer of a DONE, judged as the answer to the call would have been.
func kept(r *countersign.SettlementRecord) request.Outcome {
	o := request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: int(r.StatusCode)}, AnsweredBy: &countersign.AnsweredBy{KeyID: r.KeyID}}
	body := r.Output.Raw()
	if r.Output.IsZero() {
		body = r.Text
	}
	o.Response.Bytes, o.Response.BodySHA256 = countersign.ByteCount(len(body)), countersign.BodyDigest(countersign.SHA256Hex([]byte(body)))
	success := r.StatusCode >= 200 && r.StatusCode < 300
	switch {
	case success && r.StatusCode == 206:
		o.Certainty, o.Cause = request.Unknown, countersign.AnswerUnreadable+"it is 206, a part of an answer, and no part was asked for"
	case success && !r.Output.IsZero():
		o.Body = r.Output
		return o
	case success && strings.Trim(r.Text, "\ufeff \t\r\n") == "":
		o.Body = countersign.Null
		return o
	case success:
		o.Certainty, o.Cause = request.Unknown, countersign.AnswerUnreadable+"the kept answer is no JSON"
	}
	o.Response.Body = beginning(body)
	return o
}

// mostSaid is how much is kept of a body that is no output.
const mostSaid = 4 << 10

func beginning(text string) string {
	if len(text) <= mostSaid {
		return text
	}
	text = text[:mostSaid]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
