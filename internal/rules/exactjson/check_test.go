package exactjson

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// refused asserts that Check refuses text as invalid_json, for a reason and in
// words that name all of the parts.
func refused(t *testing.T, text string, r reason, parts ...string) {
	t.Helper()
	err := Check([]byte(text))
	if got := countersign.ErrorCode(err); got != countersign.CodeInvalidJSON {
		t.Fatalf("%.80q: code %q, want invalid_json (%v)", text, got, err)
	}
	s := scanner{data: []byte(text)}
	if f := s.document(); f.reason != r {
		t.Errorf("%.80q: reason %d, want %d", text, f.reason, r)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%.80q: %q does not say %q", text, err, part)
		}
	}
}

func accepted(t *testing.T, text string) {
	t.Helper()
	if err := Check([]byte(text)); err != nil {
		t.Errorf("%.80q is refused: %v", text, err)
	}
}

func TestRefusalIsAnErrorWithACode(t *testing.T) {
	var e *countersign.Error
	if err := Check([]byte("{")); !errors.As(err, &e) || e.Code != countersign.CodeInvalidJSON {
		t.Errorf("got %T %v", err, err)
	}
	if err := Check([]byte("{}")); err != nil {
		t.Errorf("an accepted text must give a nil error, not %#v", err)
	}
}

func TestRefusalSaysWhereAndWhatWouldBeRight(t *testing.T) {
	const plan = `{"steps":[{},{},{"input":{"amount":1,"amount":2}}]}`
	err := Check([]byte(plan))
	const want = `invalid_json: steps[2].input: the key "amount" stands a second time in its object at byte 37; keep one of the two`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	refused(t, `{"a b":[1,x]}`, syntax, `["a b"][1]`, "found 'x'", "byte 10", "expected a JSON value")
	refused(t, `{"steps":[{"id":tru}]}`, syntax, "steps[0].id: ", "byte 16")
}

func TestEmptyTextIsRefused(t *testing.T) {
	refused(t, "", syntax, "there is no JSON value")
	refused(t, " \n\t\r", syntax, "there is no JSON value", "byte 4")
}

func TestTrailingDataIsRefused(t *testing.T) {
	refused(t, `{} {}`, syntax, "the JSON value is over", "byte 3")
	refused(t, `1 x`, syntax, "nothing after it")
	accepted(t, " {} \r\n")
}

func TestDuplicateKeyIsRefused(t *testing.T) {
	refused(t, `{"a":1,"b":2,"a":3}`, duplicate, `"a"`, "byte 13")
	refused(t, `[{"x":{"":1,"":2}}]`, duplicate, `[0].x: `, `the key ""`)
	accepted(t, `{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`)
}

func TestDuplicateKeyIsSeenThroughEscapes(t *testing.T) {
	refused(t, `{"a":1,"\u0061":2}`, duplicate, `"a"`)
	refused(t, `{"\/":1,"/":2}`, duplicate)
	refused(t, `{"\n":1,"\u000A":2}`, duplicate)
	refused(t, `{"𝄞":1,"\ud834\udd1e":2}`, duplicate)
	accepted(t, `{"a":1,"\\u0061":2}`)
	accepted(t, `{"é":1,"e\u0301":2}`) // the same to the eye, not the same text
}

func TestDuplicateKeyIsSeenAmongMany(t *testing.T) {
	for _, n := range []int{1, 2, fewKeys - 1, fewKeys, fewKeys + 1, 20, 31, 32, 33, 1000} {
		keys := make([]string, 0, n+1)
		for i := range n {
			keys = append(keys, `"k`+strings.Repeat("x", i)+`":{"k":0,"kx":0}`)
		}
		accepted(t, "{"+strings.Join(keys, ",")+"}")
		for _, again := range []int{0, n / 2, n - 1} {
			refused(t, "{"+strings.Join(append(keys, keys[again]), ",")+"}", duplicate)
		}
	}
}

func TestInvalidUTF8IsRefused(t *testing.T) {
	for _, s := range []string{"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\x80"} {
		refused(t, `["`+s+`"]`, encoding, "UTF-8")
		refused(t, `{"`+s+`":1}`, encoding)
	}
	refused(t, "\"\xe2\x82", encoding)
	accepted(t, `["é€𝄞`+"\u2028\ufffd\ufeff\x7f"+`"]`)
}

func TestByteOrderMarkIsRefused(t *testing.T) {
	refused(t, "\ufeff{}", syntax, "byte order mark", "byte 0")
}

func TestLoneSurrogateIsRefused(t *testing.T) {
	for _, s := range []string{`\ud800`, `\udc00`, `\ud800\ud800`, `\udc00\ud800`, `\ud800x`, `\ud800\n`, `\uD800\u0041`} {
		refused(t, `["`+s+`"]`, surrogate, s[:6])
		refused(t, `{"`+s+`":1}`, surrogate)
	}
	accepted(t, `["\ud834\udd1e\uDBFF\uDFFF\uffff\ue000"]`)
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(n int, open, closing string) string {
		return strings.Repeat(open, n) + strings.Repeat(closing, n)
	}
	accepted(t, nested(64, "[", "]"))
	accepted(t, strings.Repeat(`[{"a":`, 32)+"0"+strings.Repeat("}]", 32))
	accepted(t, "["+nested(63, "[", "]")+","+nested(63, "[", "]")+"]")
	refused(t, nested(65, "[", "]"), depth, "at most 64 levels", "byte 64")
	refused(t, strings.Repeat(`{"a":`, 64)+"{}"+strings.Repeat("}", 64), depth)
}

func TestExponentIsBounded(t *testing.T) {
	for _, s := range []string{"1e999999999", "1E+999999999", "-0.1e-999999999", "0e999999999", "1e000000000000000000001"} {
		accepted(t, s)
	}
	for _, s := range []string{"1e1000000000", "1e-1000000000", "0e9999999999", "1E+00001000000000"} {
		refused(t, "["+s+"]", exponent, "at most 9 digits")
	}
}

func TestNumberOfAnyLengthIsAccepted(t *testing.T) {
	accepted(t, strings.Repeat("9", 10_000)+"."+strings.Repeat("0", 10_000)+"e-7")
}

func TestNotANumberIsRefused(t *testing.T) {
	for _, s := range []string{"NaN", "Infinity", "-Infinity"} {
		refused(t, s, syntax, "NaN and Infinity are no JSON numbers")
	}
	for _, s := range []string{"01", "-01", "+1", ".5", "1.", "1.e3", "1e", "1e+", "-", "0x10", "1_000", "--1", "1e1.5"} {
		refused(t, s, syntax)
	}
}

func TestOtherDialectsAreNamed(t *testing.T) {
	refused(t, `{'a':1}`, syntax, "double quotes")
	refused(t, `[1,]`, syntax, "no comma stands after the last one")
	refused(t, `{"a":1 , }`, syntax, "no comma stands after the last one")
	refused(t, `[True]`, syntax, "small letters")
	refused(t, "[ // one\n1]", syntax, "no comments")
}

func TestMessageStaysShortHoweverLongTheKey(t *testing.T) {
	key := "k" + strings.Repeat("é", 100_000)
	for _, text := range []string{`{"` + key + `":1,"` + key + `":1}`, `{"` + key + `" 1}`, `{"` + key + `":[x]}`} {
		if err := Check([]byte(text)); len(err.Error()) > 500 {
			t.Errorf("a message of %d bytes", len(err.Error()))
		}
	}
}

func TestCheckAllocatesForKeysOnly(t *testing.T) {
	data := []byte(`[1,-2.5e3,"text","\u00e9\ud834\udd1e",[true,false,null],[[],[[]]]]`)
	if n := testing.AllocsPerRun(100, func() { _ = Check(data) }); n > 5 {
		t.Errorf("%v allocations", n)
	}
}
