package exactjson

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// FuzzEqual compares the equality that expectations are judged by with a second
// reading of contract 5: numbers by exact value, arrays ordered, objects not, null
// not the same as absent. Equal values share one canonical form, and others don't.
func FuzzEqual(f *testing.F) {
	for _, pair := range [][2]string{
		{"1", "1.0"}, {"1e0", "10e-1"}, {"-0", "0.00"}, {`"1"`, "1"}, {"null", `""`}, {"9007199254740993", "9007199254740992"},
		{`{"a":1,"b":[true,null]}`, `{"b":[true,null],"\u0061":1.0}`}, {"[1,2]", "[2,1]"}, {`{"a":null}`, "{}"}, {`"\ud83d\ude00"`, `"😀"`},
		{"1e999999999", "1e999999998"}, {"0.1", "0.10000000000000000000000001"}, {`{"a":{"b":{}}}`, `{"a":{"b":[]}}`}, {"-1E+2", "-100"},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if Check(a) != nil || Check(b) != nil || farExponent(a) || farExponent(b) {
			return
		}
		v, w := countersign.RawValue(string(a)), countersign.RawValue(string(b))
		want := plainlyEqual(asGoReads(t, a), asGoReads(t, b))
		if v.Equal(w) != want || w.Equal(v) != want {
			t.Fatalf("%s and %s: equal %v, the other way %v; want %v", a, b, v.Equal(w), w.Equal(v), want)
		}
		if same := v.Digest() == w.Digest(); same != want {
			t.Fatalf("%s and %s: one digest: %v", a, b, same)
		}
		canonical := countersign.RawValue(string(v.Canonical()))
		if Check(v.Canonical()) != nil || !canonical.Equal(v) || !bytes.Equal(canonical.Canonical(), v.Canonical()) {
			t.Fatalf("%s is canonically %s", a, v.Canonical())
		}
	})
}

// farExponent reports a number that big.Rat would expand to more digits than a
// fuzzer has time for; the product expands none.
func farExponent(data []byte) bool {
	for _, at := range bytes.FieldsFunc(data, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }) {
		if _, exponent, ok := bytes.Cut(bytes.ToLower(at), []byte("e")); ok && len(bytes.TrimLeft(exponent, "+-0")) > 3 {
			return true
		}
	}
	return false
}

func asGoReads(t *testing.T, data []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s passed and is no JSON: %v", data, err)
	}
	return v
}

func plainlyEqual(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		return ok && rational(a).Cmp(rational(n)) == 0
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for i := range a {
			if !plainlyEqual(a[i], other[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for name := range a {
			if theirs, there := other[name]; !there || !plainlyEqual(a[name], theirs) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}

func rational(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(string(n)) // JSON's numbers are all such
	return r
}
