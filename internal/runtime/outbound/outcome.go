package outbound

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
)

// errRepeated is why a complete 2xx answer with acceptable JSON can't be used.
const errRepeated = cause("the answer repeats the credential in a way that can't be masked")

// errPart is why a 206 can't be used: no request has a Range, and nothing says what the rest of
// the answer is.
const errPart = cause(countersign.AnswerUnreadable + "it is 206, a part of an answer, and no part was asked for")

// judge says what is known of a call. What it returns holds no credential, even
// if the receiver sent it back.
func judge(a answer, secrets masker) request.Outcome {
	if !a.sent {
		return request.Outcome{Certainty: request.NotSent, Cause: causeOf(a.err)}
	}
	o := request.Outcome{Certainty: request.Unknown, Response: a.response(secrets)}
	switch {
	case !a.head:
		o.Cause = causeOf(a.err)
	case a.status >= 400 && a.status < 500 && a.status != 408:
		o.Certainty = request.Returned // a refusal is one, whatever came after it
	case a.err != nil:
		o.Cause = causeOf(a.err)
	case a.status == http.StatusPartialContent:
		o.Cause = string(errPart)
	case a.status >= 200 && a.status < 300:
		accept(&o, a, secrets)
	case a.status < 600:
		o.Certainty, o.Cause = request.Returned, redirected(a, secrets)
	default:
		o.Cause = string(errMalformed)
	}
	o.OfAnother = a.status == http.StatusConflict && (a.compressed || a.err != nil || request.SpeaksOfAnother(string(a.body)))
	if a.head && o.Body.IsZero() && !a.compressed {
		o.Response.Body = said(a.body, secrets, a.err == nil)
	}
	return o
}

// accept takes the body of a complete 2xx: JSON, judged by its bytes and not by
// its Content-Type, or nothing at all, which is null.
func accept(o *request.Outcome, a answer, secrets masker) {
	json := content(a.body)
	if json == nil {
		o.Certainty, o.Body = request.Returned, countersign.Null
		return
	}
	if o.Cause = unreadable(a, json, secrets); o.Cause != "" {
		return
	}
	text := string(json)
	clean := secrets.mask(text)
	if clean != text && exactjson.Check([]byte(clean)) != nil { // two keys became one
		o.Cause = string(errRepeated)
		return
	}
	o.Certainty, o.Body = request.Returned, countersign.RawValue(clean)
}

// response is what is kept of an answer; nil when no status line came. The hash
// is that of the whole body, so a body that is incomplete has none.
func (a answer) response(secrets masker) *countersign.Response {
	if a.status == 0 {
		return nil
	}
	r := &countersign.Response{StatusCode: a.status, Bytes: countersign.ByteCount(len(a.body)), DurationMs: a.took.Milliseconds()}
	if a.err == nil {
		r.BodySHA256 = countersign.BodyDigest(countersign.SHA256Hex(a.body))
	}
	if !secrets.occursIn(a.retryAfter) {
		r.RetryAfter = a.retryAfter
	}
	return r
}
