package outbound

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// TestARedirectSaysWhereItLeads, and no more than what is wrong with it: neither a
// credential, nor a query, nor what a terminal would obey.
func TestARedirectSaysWhereItLeads(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"https://shop.example/v1/orders/":                   `"https://shop.example/v1/orders/"`,
		"//other.example/x":                                 `"//other.example/x"`,
		"http://ann:pass@shop.example/x?token=abc#frag":     `"http://shop.example/x" …`,
		"/back/" + secret:                                   `"/back/[credential]"`,
		"/back/x?key=" + secret:                             `"/back/x" …`,
		"https://h\u00f6st.example/\u202eabc":               `"https://h%C3%B6st.example/%E2%80%AEabc"`,
		"/" + strings.Repeat("a", 400):                      `"/` + strings.Repeat("a", maxLocation-1) + `" …`,
		"http://[::1":                                       "no address",
		"https://user:" + secret + "@shop.example:port/abc": "no address",
	} {
		b := setup(t)
		b.receiver.Next(faultreceiver.Answering("3xx", "HTTP/1.1 302 Found\r\nLocation: "+location+"\r\nContent-Length: 0\r\n\r\n"))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.Returned || o.Cause != "the receiver answered 302, which does not say what happened: redirects are not followed; its Location is "+want {
			t.Errorf("%s: got %s", location, o.Cause)
		}
		mustNotHold(t, fmt.Sprintf("%+v", o))
	}
	if got := leadsTo(answer{status: 500, location: "/x"}, masker{}) + leadsTo(answer{status: 304}, masker{}); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestRetryAfterIsKept as the receiver sent it, where it is one.
func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	const date = "Fri, 27 Nov 2026 20:00:00 GMT"
	for _, tt := range []struct {
		status       int
		header, want string
	}{
		{429, "Retry-After: 120\r\n", "120"}, {503, "Retry-After: " + date + "\r\n", date}, {301, "retry-after: 0\r\n", "0"},
		{200, "Retry-After: 120\r\n", ""}, {503, "", ""}, {503, "Retry-After: soon\r\n", ""}, {503, "Retry-After: -1\r\n", ""}, {503, "Retry-After: 1.5\r\n", ""},
		{503, "Retry-After: " + strings.Repeat("9", maxRetryAfter+1) + "\r\n", ""}, {503, "Retry-After: 1\r\nRetry-After: 2\r\n", ""},
	} {
		b := setup(t)
		b.receiver.Next(faultreceiver.Answering("later", fmt.Sprintf("HTTP/1.1 %d Later\r\n%sContent-Length: 0\r\n\r\n", tt.status, tt.header)))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Response == nil || o.Response.RetryAfter != tt.want {
			t.Errorf("%d %q: got %+v", tt.status, tt.header, o.Response)
		}
	}
	if got := (answer{status: 503, retryAfter: "1234567890"}).response(maskerFor("1234567890")).RetryAfter; got != "" {
		t.Errorf("a credential of digits is kept: %s", got)
	}
}

// TestAnUnreadableAnswerKeepsNoCredential: neither in its body, in whatever encoding, nor
// in what is quoted of it.
func TestAnUnreadableAnswerKeepsNoCredential(t *testing.T) {
	t.Parallel()
	var little, plain strings.Builder
	for _, c := range secret {
		little.WriteString(string(c) + "\x00")
	}
	plain.WriteString(strings.Repeat("k", 60) + secret)
	for _, body := range []string{
		"you sent " + secret, "\xff\xfe{\x00" + little.String(), "{\x00" + little.String(), "\uFEFF<html>" + secret,
		`{"` + secret + `":1,"` + secret + `":2}`, `{"` + plain.String() + `":1,"` + plain.String() + `":2}`, "{\"a\":\"" + secret + "\xff\"}",
	} {
		b := setup(t)
		b.receiver.Next(faultreceiver.Answering("echo", faultreceiver.JSON(200, body)))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.Unknown || o.Response.Body == "" {
			t.Errorf("%.40q: got %+v", body, o)
		}
		text := fmt.Sprintf("%+v %+v", o, o.Response)
		mustNotHold(t, text)
		mustNotHold(t, strings.ReplaceAll(text, "\x00", ""))
		if strings.Contains(text, secret[:8]) {
			t.Errorf("%.40q: a part of the credential shows: %s", body, text)
		}
	}
}

// TestAnAnswerThatBreaksOffOrIsTooLargeIsKept as far as it came.
func TestAnAnswerThatBreaksOffOrIsTooLargeIsKept(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"short-body": `{"ok":true}`, "reset-mid-body": "", "cut-chunk": `{"ok"`, "huge-body": `"xxx`, "until-close-1.1-number": "12"} {
		b := setup(t)
		b.receiver.Next(faultreceiver.Named(name))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.Unknown || !strings.HasPrefix(o.Response.Body, want) || len(o.Response.Body) > maxSaid {
			t.Errorf("%s: got %+v", name, o.Response)
		}
	}
}
