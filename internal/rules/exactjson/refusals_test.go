package exactjson

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestASyntaxErrorSaysWhatWasFoundAndWhatWouldBeRight reads each message in full.
func TestASyntaxErrorSaysWhatWasFoundAndWhatWouldBeRight(t *testing.T) {
	for text, want := range map[string]string{
		"":               `invalid_json: there is no JSON value: the text ends at byte 0; expected one`,
		"\ufeff{}":       `invalid_json: found a byte order mark at byte 0; send UTF-8 without one`,
		"{} {}":          `invalid_json: the JSON value is over, but found '{' at byte 3; send one value and nothing after it`,
		"[01]":           `invalid_json: [0]: a number begins with a zero at byte 1; write it without leading zeros`,
		"[1e1000000000]": `invalid_json: [0]: the exponent of a number is too long at byte 2; at most 9 digits are accepted`,
		"[-]":            `invalid_json: [0]: found ']' at byte 2; expected a digit after the minus sign`,
		"[1.]":           `invalid_json: [0]: found ']' at byte 3; expected a digit after the decimal point`,
		"[1e]":           `invalid_json: [0]: found ']' at byte 3; expected a digit in the exponent`,
		"[\"a\tb\"]":     `invalid_json: [0]: found byte 0x09 inside a string at byte 3; escape control characters, as in \n or \u0001`,
		"[\"\xff\"]":     `invalid_json: [0]: found byte 0xFF inside a string, which is no UTF-8 at byte 2; send UTF-8`,
		`["\ud800x"]`:    `invalid_json: [0]: a lone surrogate \ud800 at byte 2; write both halves of the pair, or the character itself`,
		`["a`:            `invalid_json: [0]: the text ends at byte 3; expected the closing double quote of a string`,
		`["\x"]`:         `invalid_json: [0]: found 'x' at byte 3; expected one of " \ / b f n r t u after a backslash`,
		`["\u12"]`:       `invalid_json: [0]: found '"' at byte 6; expected four hexadecimal digits after \u`,
		`{1:2}`:          `invalid_json: found '1' at byte 1; expected a key in double quotes`,
		`{"a" 1}`:        `invalid_json: found '1' at byte 5; expected a colon after the key "a"`,
		`[1 2]`:          `invalid_json: found '2' at byte 3; expected a comma or ]`,
	} {
		if err := Check([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nnot %s", text, err, want)
		}
	}
}

// TestANumberOfARequestIsBounded: in any place and spelling. An answer isn't a request: its
// numbers may be as long as it is.
func TestANumberOfARequestIsBounded(t *testing.T) {
	const most = countersign.MaxNumberLength
	for _, number := range []string{
		strings.Repeat("9", most+1), "-" + strings.Repeat("9", most), "0." + strings.Repeat("0", most-1), "1e" + strings.Repeat("0", most-1),
	} {
		for _, around := range []string{"%s", `[%s]`, `{"a":{"b":[1,%s]}}`} {
			text := fmt.Appendf(nil, around, number)
			var v countersign.Value
			if err := Decode(text, &v); err == nil || !strings.HasSuffix(err.Error(), "at most 4096 are accepted") || !v.IsZero() {
				t.Errorf("%.20s as %s: %v", number, around, err)
			}
			if err := Check(text); err != nil {
				t.Errorf("%.20s in an answer: %v", number, err)
			}
			if err := Decode(fmt.Appendf(nil, around, number[:len(number)-1]), &v); err != nil {
				t.Errorf("one character less: %v", err)
			}
		}
	}
	err := Decode([]byte(`{"inputs":{"amount":`+strings.Repeat("1", 5000)+`}}`), new(countersign.Value))
	if want := "invalid_json: inputs.amount: a number of 5000 characters is too long at byte 20; at most 4096 are accepted"; err == nil || err.Error() != want {
		t.Errorf("%v\nnot %s", err, want)
	}
}
