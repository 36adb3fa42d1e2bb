package outbound

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// maskerFor looks for one secret that is sent as it is.
func maskerFor(secret string) masker {
	return maskerOf([]authentication{{countersign.Auth{Type: countersign.AuthBearer}, secret}})
}

func TestMask(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, secret, raw, want string }{
		{"nothing to mask keeps its bytes", secret, "{ \"a\" :\t1.0e0, \"b\":\"\\u0041\\/\" }", "{ \"a\" :\t1.0e0, \"b\":\"\\u0041\\/\" }"},
		{"as it is", secret, `["` + secret + `"]`, `["[credential]"]`},
		{"twice", secret, `"` + secret + secret + `"`, `"[credential][credential]"`},
		{"as a key", secret, `{"` + secret + `":1}`, `{"[credential]":1}`},
		{"base64", secret, `["` + base64.StdEncoding.EncodeToString([]byte(secret)) + `"]`, `["[credential]=="]`},
		{"base64 of more", secret, `["` + base64.StdEncoding.EncodeToString([]byte("Bearer "+secret+" and more")) + `"]`, `["QmVhcmVyIGNh[credential]TG0gYW5kIG1vcmU="]`},
		{"base64 behind two bytes", secret, `["` + base64.URLEncoding.EncodeToString([]byte("k="+secret)) + `"]`, `["az1j[credential]"]`},
		{"hex", secret, `["` + strings.ToUpper(hex.EncodeToString([]byte(secret))) + `"]`, `["[credential]"]`},
		{"url", secret, `["?k=` + url.QueryEscape(secret) + `"]`, `["?k=[credential]"]`},
		{"a number", "123456789", `{"n":123456789,"m":12}`, `{"n":"[credential]","m":12}`},
		{"part of a number", "123456", `[1234567]`, `["[credential]7"]`},
		{"too short to tell", "12345", `[12345]`, `[12345]`},
		{"quotes and backslashes", `a"b\c"d`, `["a\"b\\c\"d"]`, `["[credential]"]`},
	}
	for _, tt := range tests {
		if got := maskerFor(tt.secret).mask(tt.raw); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestAnAnswerThatMaskingWouldBreakIsUnknown: two keys that become one.
func TestAnAnswerThatMaskingWouldBreakIsUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := `{"` + secret + `":1,"` + hex.EncodeToString([]byte(secret)) + `":2}`
	b.receiver.Next(faultreceiver.Answering("mirror", faultreceiver.JSON(200, body)))
	o := b.client.Call(t.Context(), b.call(t, "POST"))
	if o.Certainty != request.Unknown || o.Cause != string(errRepeated) {
		t.Errorf("got %+v", o)
	}
}

// FuzzMask: valid JSON stays valid JSON (but for keys that become one), and the
// secret is gone, whatever else is in it.
func FuzzMask(f *testing.F) {
	f.Add(`{"a":"` + secret + `","b":[1,true,null,"\u0063x"]}`)
	f.Add(`"\"` + secret + `\\"`)
	f.Fuzz(func(t *testing.T, raw string) {
		if exactjson.Check([]byte(raw)) != nil {
			return
		}
		got := maskerFor(secret).mask(raw)
		if !json.Valid([]byte(got)) {
			t.Fatalf("%s became %s", raw, got)
		}
		var v any
		if json.Unmarshal([]byte(got), &v) == nil {
			if plain, _ := json.Marshal(v); strings.Contains(string(plain), secret) {
				t.Fatalf("%s became %s", raw, got)
			}
		}
	})
}
