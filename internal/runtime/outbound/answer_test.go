package outbound

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

func answerOf(r io.Reader, method string) answer {
	source := &meter{from: r}
	return readAnswer(source, bufio.NewReaderSize(source, readBuffer), method, 0)
}

// TestHeadersAreCappedExactly: 64 KiB pass, one byte more does not, also where the
// headers of interim answers count in.
func TestHeadersAreCappedExactly(t *testing.T) {
	t.Parallel()
	for _, interim := range []string{"", "HTTP/1.1 102 Processing\r\n\r\n"} {
		for over := range 2 {
			frame := interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: \r\n\r\n"
			filler := strings.Repeat("x", maxHead-len(frame)+over)
			a := answerOf(strings.NewReader(strings.Replace(frame, "X: ", "X: "+filler, 1)+"{}"), "GET")
			if ok := a.err == nil; ok != (over == 0) {
				t.Errorf("%d bytes over: got %v", over, a.err)
			}
		}
	}
}

// FuzzAnswer: whatever comes, in whatever pieces, reading ends, takes bounded
// memory, says the same, and lets a 2xx pass only with an acceptable body.
func FuzzAnswer(f *testing.F) {
	f.Add(faultreceiver.JSON(200, `{"ok":true}`))
	f.Add("HTTP/1.1 100 Continue\r\n\r\n" + faultreceiver.JSON(404, ""))
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nA: b\r\n\r\n")
	f.Add("HTTP/1.0 200 OK\r\n\r\n[1]")
	f.Add("HTTP/1.1 200 OK\nContent-Length: 2\n\n{}trailing")
	f.Fuzz(func(t *testing.T, text string) {
		a := answerOf(strings.NewReader(text), "POST")
		a.sent = true
		o := judge(a, maskerFor(secret))
		if o.Certainty == request.NotSent || o.Certainty == request.Unknown && o.Cause == "" {
			t.Fatalf("%q: %+v", text, o)
		}
		if len(a.body) > countersign.MaxBodyBytes+1 || a.reusable && a.err != nil {
			t.Fatalf("%q: %+v", text, a)
		}
		if !o.Body.IsZero() && !o.Body.IsNull() && exactjson.Check([]byte(o.Body.Raw())) != nil {
			t.Fatalf("%q: body %q", text, o.Body.Raw())
		}
		b := answerOf(iotest.OneByteReader(strings.NewReader(text)), "POST")
		b.sent = true
		if p := judge(b, maskerFor(secret)); p.Certainty != o.Certainty || p.Body != o.Body || statusOf(p) != statusOf(o) {
			t.Fatalf("%q: whole %+v, byte by byte %+v", text, o, p)
		}
	})
}
