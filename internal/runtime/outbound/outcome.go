package outbound

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// Why a complete 2xx answer can't be used.
const (
	errNotJSON    = cause("the answer is not acceptable JSON")
	errCompressed = cause("the answer was compressed, which nobody asked for")
	errRepeated   = cause("the answer repeats the credential in a way that can't be masked")
)

// judge says what is known of a call. What it returns holds no credential, even
// if the receiver sent it back.
func (c *Client) judge(a answer, secrets masker) request.Outcome {
	if !a.sent {
		return request.Outcome{Certainty: request.NotSent, Cause: causeOf(a.err)}
	}
	o := request.Outcome{Certainty: request.Unknown, Response: a.response()}
	if a.head && a.status/100 != 2 && !a.compressed {
		o.Response.Body = said(a.body, secrets, a.err == nil)
	}
	switch {
	case !a.head:
		o.Cause = causeOf(a.err)
	case a.status >= 400 && a.status < 500 && a.status != 408:
		o.Certainty = request.Returned // a refusal is one, whatever came after it
	case a.err != nil:
		o.Cause = causeOf(a.err)
	case a.status >= 200 && a.status < 300:
		c.accept(&o, a, secrets)
	case a.status < 600:
		o.Certainty = request.Returned
	default:
		o.Cause = string(errMalformed)
	}
	return o
}

// accept takes the body of a complete 2xx: JSON, judged by its bytes and not by
// its Content-Type, or nothing at all, which is null.
func (c *Client) accept(o *request.Outcome, a answer, secrets masker) {
	if len(a.body) == 0 {
		o.Certainty, o.Body = request.Returned, countersign.Null
		return
	}
	if c.checkJSON(a.body) != nil {
		o.Cause = string(errNotJSON)
		if a.compressed {
			o.Cause = string(errCompressed)
		}
		return
	}
	text := string(a.body)
	clean := secrets.mask(text)
	if clean != text && c.checkJSON([]byte(clean)) != nil { // two keys became one
		o.Cause = string(errRepeated)
		return
	}
	o.Certainty, o.Body = request.Returned, countersign.RawValue(clean)
}

// response is what is kept of an answer; nil when no status line came. The hash
// is that of the whole body, so a body that is incomplete has none.
func (a answer) response() *countersign.Response {
	if a.status == 0 {
		return nil
	}
	r := &countersign.Response{StatusCode: a.status, Bytes: countersign.ByteCount(len(a.body)), DurationMs: a.took.Milliseconds()}
	if a.err == nil {
		r.BodySHA256 = countersign.BodyDigest(countersign.SHA256Hex(a.body))
	}
	return r
}
