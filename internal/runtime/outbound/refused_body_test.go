package outbound

import (
	"encoding/base64"
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// TestARefusalKeepsWhatWasSaid: the beginning of the body, as text, of any answer that
// gives no output; without it nobody can tell why a 422 was one.
func TestARefusalKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxSaid) // two bytes each
	for status, bodies := range map[int]map[string]string{
		422: {`{"error":"iban: wrong check digit"}`: `{"error":"iban: wrong check digit"}`, "": "", "a\xffb": "a\uFFFDb", long: long[:maxSaid], "x" + long: ("x" + long)[:maxSaid-1]},
		409: {"plain text, no JSON": "plain text, no JSON"},
		500: {"<html>broken</html>": "<html>broken</html>"},
		302: {"moved": "moved"},
		200: {`{"ok":true}`: "", "no JSON": "no JSON", "{\"a\":\"\xff\"}": "{\"a\":\"\uFFFD\"}"},
	} {
		for body, want := range bodies {
			b := setup(t)
			b.receiver.Next(faultreceiver.Answering("said", faultreceiver.JSON(status, body)))
			o := b.client.Call(t.Context(), b.call(t, "POST"))
			if o.Response == nil || o.Response.Body != want || o.Response.StatusCode != status {
				t.Errorf("%d %.40q: got %+v", status, body, o.Response)
			}
		}
	}
}

// TestARefusalKeepsNoCredential, however it is spelt, cut off or broken.
func TestARefusalKeepsNoCredential(t *testing.T) {
	t.Parallel()
	const odd = `a:b <c>"d\e&f,1234567` // structure in JSON, markup and URLs
	for _, s := range []string{secret, odd} {
		var escaped strings.Builder
		for _, c := range []byte(s) {
			escaped.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789ABCDEF"[c&15]))
		}
		var percent strings.Builder
		for _, c := range []byte(s) {
			percent.WriteString("%" + string("0123456789abcdef"[c>>4]) + string("0123456789ABCDEF"[c&15]))
		}
		for _, body := range []string{
			s, "you sent " + s + "!", `{"k":"` + escaped.String() + `"}`, `broken {"k":"` + escaped.String(), "<p>" + html.EscapeString(s), "?k=" + percent.String(),
			base64.StdEncoding.EncodeToString([]byte(s)), strings.Repeat("x", maxSaid-len(s)/2) + s, "Bearer " + s + "\n",
		} {
			if got := said([]byte(body), maskerFor(s), true); strings.Contains(got, s[:8]) || strings.Contains(got, escaped.String()[:24]) || strings.Contains(got, percent.String()[:12]) || !utf8.ValidString(got) || len(got) > maxSaid {
				t.Errorf("%.60q: kept %.60q", body, got)
			}
		}
	}
	if got := said([]byte("you sent "+secret[:len(secret)-1]), maskerFor(secret), false); got != "you sent " {
		t.Errorf("an answer that breaks off amid the credential keeps %q", got)
	}
}

// TestACompressedRefusalIsNotKept: nobody asked for it, and what it holds can't be
// looked for.
func TestACompressedRefusalIsNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.receiver.Next(faultreceiver.Answering("packed", "HTTP/1.1 422 No\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"))
	if o := b.client.Call(t.Context(), b.call(t, "POST")); o.Response == nil || o.Response.Body != "" {
		t.Errorf("got %+v", o.Response)
	}
}
