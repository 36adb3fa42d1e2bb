package outbound

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/request"
)

// message is a request that may be sent: everything that could refuse it has
// been asked, before a connection exists.
type message struct {
	origin     origin
	method     string
	target     string
	body       string
	runtime    [3]headerField // idempotency key, run id, step id
	headers    []headerField  // the project's own
	credential []authentication
	trace      string           // traceparent; "": none is sent
	sendBefore time.Time        // zero: whenever
	wall       func() time.Time // the wall clock, where sendBefore is set
	notice     *noticeHead      // a webhook's, instead of runtime and credential; nil: a step's call
	maxAnswer  int              // bytes of the answer's body; 0: as many as a step's
	onceOnly   bool             // a side effect that the receiver doesn't deduplicate
}

// errTooLate is a process that stood still while it held something to send: by now
// another one may have taken its run over.
const errTooLate = cause("the time in which this process may send was over")

// mayBeSent is asked just before the first byte is written.
func (m *message) mayBeSent(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.sendBefore.IsZero() {
		return nil
	}
	// By the wall clock too: the monotonic one stands still while a machine sleeps.
	if !time.Now().Before(m.sendBefore) || !m.wall().Round(0).Before(m.sendBefore.Round(0)) {
		return errTooLate
	}
	return nil
}

type headerField struct{ name, value string }

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// message checks a call against the operator's lists and the limits. Its errors
// are causes: nothing was sent, and their text is safe to show.
func (c *Client) message(call request.Call) (message, error) {
	o, err := c.originOf(call.Project.BaseURL)
	if err != nil {
		return message{}, err
	}
	m := message{origin: o, method: call.Request.Method, body: request.BodyText(call.Request), sendBefore: call.SendBefore, wall: c.now, onceOnly: call.OnceOnly, maxAnswer: call.MaxAnswer}
	m.runtime = [3]headerField{
		{signature.HeaderIdempotencyKey, call.IdempotencyKey},
		{signature.HeaderRunID, call.RunID},
		{signature.HeaderStepID, call.StepID},
	}
	target, ok := o.target(call.Request.URL)
	m.target = target
	switch {
	case !c.origins[o.text]:
		return m, cause("origin " + o.text + " is not on the server's list")
	case !ok:
		return m, cause("the address is not on the registered origin")
	case !slices.Contains(methods, m.method):
		return m, cause("the method is not one of a capability's")
	case max(len(m.body), len(m.target)) > countersign.MaxBodyBytes:
		return m, cause("the request is larger than 1 MiB")
	}
	for _, h := range m.runtime {
		if !isVisible(h.value) {
			return m, cause("the value of " + h.name + " is empty or holds characters that a header can't carry")
		}
	}
	if m.headers, err = fixedHeaders(call.Project.Headers); err != nil {
		return m, err
	}
	m.credential, err = c.credentials.of(call, o.text)
	return m, err
}

// headerAccept may be a project's, where the API has its version in it.
const headerAccept = "Accept"

// fixedHeaders are a project's, by name; the last gate behind the rules of registration.
func fixedHeaders(headers map[string]string) ([]headerField, error) {
	var out []headerField
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		accept := strings.EqualFold(name, headerAccept) && request.IsJSONMediaType(headers[name])
		if !accept && !carriesKey(name) || !isHeaderValue(headers[name]) {
			return nil, cause("header " + strconv.QuoteToASCII(name) + " of the project can't be sent")
		}
		out = append(out, headerField{name, headers[name]})
	}
	return out, nil
}

// append writes the request as it goes over the wire, head and body. now is the
// moment of sending. A receiver that isn't told to leave the answer as it is may compress it.
func (m *message) append(b []byte, now time.Time, userAgent string) []byte {
	b = append(append(b, m.method...), ' ')
	b = append(append(b, m.target...), " HTTP/1.1\r\n"...)
	b = field(b, "Host", m.origin.host)
	b = field(b, "User-Agent", userAgent)
	if !slices.ContainsFunc(m.headers, func(h headerField) bool { return strings.EqualFold(h.name, headerAccept) }) {
		b = field(b, headerAccept, "application/json")
	}
	b = field(b, "Accept-Encoding", "identity")
	if m.body != "" {
		b = field(b, "Content-Type", "application/json")
	}
	if m.body != "" || m.method != "GET" && m.method != "DELETE" {
		b = field(b, "Content-Length", strconv.Itoa(len(m.body)))
	}
	timestamp := timestampOf(now)
	if m.notice != nil {
		b = m.notice.append(b, timestamp, m.body)
	} else {
		b = m.appendRuntime(b, timestamp)
	}
	b = append(b, "\r\n"...)
	return append(b, m.body...)
}

func timestampOf(now time.Time) string { return strconv.FormatInt(now.Unix(), 10) }

// appendRuntime writes what identifies and authenticates a step's call.
func (m *message) appendRuntime(b []byte, timestamp string) []byte {
	for _, h := range m.runtime {
		b = field(b, h.name, h.value)
	}
	for _, h := range m.headers {
		b = field(b, h.name, h.value)
	}
	if m.trace != "" {
		b = field(b, headerTrace, m.trace)
	}
	b = field(b, signature.HeaderTimestamp, timestamp)
	for _, a := range m.credential {
		h := a.header(m, timestamp)
		b = field(b, h.name, h.value)
	}
	return b
}

// parts are what HMAC signs: the bytes that append writes.
func (m *message) parts(timestamp string) signature.Parts {
	return signature.Parts{
		Method:         m.method,
		PathAndQuery:   m.target,
		Timestamp:      timestamp,
		IdempotencyKey: m.runtime[0].value,
		RunID:          m.runtime[1].value,
		StepID:         m.runtime[2].value,
		BodySHA256:     signature.BodyHash([]byte(m.body)),
	}
}

func field(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

// isVisible reports visible ASCII without spaces, at least one: what a signed
// header may hold, line breaks least of all.
func isVisible(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != ""
}
