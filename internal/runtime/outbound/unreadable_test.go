package outbound

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// unreadableWords are what is said of each of the receiver's unreadable bodies.
var unreadableWords = map[string]string{
	"html":               "it is HTML, not JSON",
	"html-page":          "it is HTML, not JSON",
	"xml":                "it is XML or other markup, not JSON",
	"text":               "found 'O' at byte 0; expected a JSON value",
	"form":               "found 'o' at byte 0; expected a JSON value",
	"event-stream":       "found 'd' at byte 0; expected a JSON value",
	"utf-16":             "it begins with a byte order mark of UTF-16",
	"utf-16-big":         "it begins with a byte order mark of UTF-16",
	"utf-16-unmarked":    "it is not UTF-8 but, by its zero bytes, UTF-16 or UTF-32",
	"utf-32":             "it begins with a byte order mark of UTF-32",
	"latin-1":            "it is not UTF-8 at byte 12",
	"two-marks":          "found a byte order mark at byte 0",
	"double-key":         "the key \"status\" stands twice, the second time at byte 17",
	"double-key-escaped": "the key \"id\" stands twice, the second time at byte 17",
	"nan":                "found 'N' at byte 5; expected a JSON value (NaN and Infinity are no JSON numbers)",
	"infinity":           "found 'I' at byte 6; expected a digit after the minus sign (NaN and Infinity are no JSON numbers)",
	"undefined":          "found 'u' at byte 5; expected a JSON value",
	"python":             "found 'T' at byte 6; expected a JSON value (true, false and null are written in small letters)",
	"single-quotes":      "found a single quote at byte 1; expected a key in double quotes (strings and keys stand in double quotes)",
	"bare-key":           "found 'o' at byte 1; expected a key in double quotes",
	"comma-object":       "found '}' at byte 11; expected a key in double quotes (no comma stands after the last one)",
	"comma-array":        "found ']' at byte 5; expected a JSON value (no comma stands after the last one)",
	"no-comma":           "found '\"' at byte 7; expected a comma or }",
	"comment":            "the JSON value is over, but found '/' at byte 3",
	"two-documents":      "the JSON value is over, but found '{' at byte 2",
	"lines":              "the JSON value is over, but found '{' at byte 8",
	"surrogate":          "a lone surrogate \\ud800 at byte 6",
	"too-deep":           "it has 65 levels of nesting, of which 64 are read",
	"control":            "found byte 0x09 inside a string at byte 7",
	"zero":               "the JSON value is over, but found byte 0x00 at byte 7",
	"leading-zero":       "a number begins with a zero at byte 5",
	"plus":               "found '+' at byte 5; expected a JSON value (a number begins with a digit or a minus sign)",
	"hexadecimal":        "found 'x' at byte 6; expected a comma or }",
	"exponent":           "the exponent of a number is too long at byte 1",
	"cut":                "found 't' at byte 6; expected a JSON value",
	"jsonp":              "found 'd' at byte 0; expected a JSON value",
	"guarded":            "found ')' at byte 0; expected a JSON value",
	"gzip-unsaid":        "it is compressed by gzip, which its headers don't say",
}

// TestAnUnreadableAnswerIsKeptAndSaysWhy: who must say whether it happened has no better
// evidence than what the receiver answered.
func TestAnUnreadableAnswerIsKeptAndSaysWhy(t *testing.T) {
	t.Parallel()
	if len(unreadableWords) != len(faultreceiver.Unreadable) {
		t.Errorf("%d words for %d bodies", len(unreadableWords), len(faultreceiver.Unreadable))
	}
	for _, u := range faultreceiver.Unreadable {
		b := setup(t)
		b.receiver.Next(faultreceiver.Named("unreadable-" + u.Name))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.Unknown || o.Cause != countersign.AnswerUnreadable+unreadableWords[u.Name] {
			t.Errorf("%s: %q", u.Name, o.Cause)
		}
		said := o.Response.Body
		if want := strings.Trim(u.Body, "\xff\xfe\x00\uFEFF \n"); !utf8.ValidString(said) || !strings.Contains(strings.ReplaceAll(said, "\x00", ""), want[:1]) {
			t.Errorf("%s: kept %q", u.Name, said)
		}
		if string(o.Response.BodySHA256) != countersign.SHA256Hex([]byte(u.Body)) || int(o.Response.Bytes) != len(u.Body) {
			t.Errorf("%s: the evidence is not of the bytes that came: %+v", u.Name, o.Response)
		}
	}
}
