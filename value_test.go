package countersign_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func raw(text string) countersign.Value { return countersign.RawValue(text) }

func TestKindIsToldFromTheText(t *testing.T) {
	for text, want := range map[string]countersign.Kind{
		"": countersign.KindAbsent, "null": countersign.KindNull, "true": countersign.KindBoolean, "false": countersign.KindBoolean,
		"-1": countersign.KindNumber, "0": countersign.KindNumber, `""`: countersign.KindString, "\n[]\t": countersign.KindArray, "\n{}\t": countersign.KindObject,
	} {
		if got := raw(text).Kind(); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func TestMadeValuesAreJSON(t *testing.T) {
	for want, v := range map[string]countersign.Value{
		`"a\"\\\n\u0001é\u2028<"`: countersign.String("a\"\\\n\x01é\u2028<"),
		`true`:                    countersign.Bool(true),
		`-9223372036854775808`:    countersign.Int(-1 << 63),
		`null`:                    countersign.Null,
		`{"a":1,"b":null}`:        countersign.ObjectValue(map[string]countersign.Value{"b": countersign.Null, "a": countersign.Int(1)}),
		`{}`:                      countersign.ObjectValue(nil),
	} {
		if want = strings.ReplaceAll(want, `\u2028`, "\u2028"); v.Raw() != want || !json.Valid([]byte(v.Raw())) {
			t.Errorf("got %s, want %s", v.Raw(), want)
		}
	}
}

func TestAbsentValueInAMapIsWrittenAsNull(t *testing.T) {
	m := map[string]countersign.Value{"absent": {}}
	v, err := countersign.ValueOf(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := countersign.ObjectValue(m); got.Raw() != `{"absent":null}` || got != v {
		t.Errorf("got %s, encoding/json gives %s", got.Raw(), v.Raw())
	}
}

func TestInvalidUTF8IsMadeValid(t *testing.T) {
	if v := countersign.String("a\xffb"); !json.Valid([]byte(v.Raw())) || v.Text() != "a\ufffdb" {
		t.Errorf("got %q", v.Raw())
	}
}

// document has a value that may be absent and one that is always written.
type document struct {
	Optional countersign.Value            `json:"optional,omitzero"`
	Always   countersign.Value            `json:"always"`
	Map      map[string]countersign.Value `json:"map,omitempty"`
}

func TestNullIsKeptApartFromAbsent(t *testing.T) {
	for _, text := range []string{
		`{"always":null}`,
		`{"optional":null,"always":1.0}`,
		`{"always":[null],"map":{"a":null}}`,
	} {
		var d document
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		got, err := countersign.Marshal(d)
		if err != nil || string(got) != text {
			t.Errorf("got %s, want %s (%v)", got, text, err)
		}
	}
}

func TestValueIsWrittenAsItWasRead(t *testing.T) {
	for _, text := range []string{
		`1.0`, `-0`, `1E400`, `9007199254740993`, `0.1000000000000000055511151231257827`, `1e-999999999`,
		`"\u00e9\/<>&"`, `"` + "\u2028" + `"`, `{"b":1,"a":{"z":[],"y":{}}}`, `[1.50,"1.50",null,true]`,
	} {
		got, err := countersign.Marshal(document{Always: raw(text)})
		if want := `{"always":` + text + `}`; err != nil || string(got) != want {
			t.Errorf("got %s, want %s (%v)", got, want, err)
		}
		var d document
		if err := json.Unmarshal(got, &d); err != nil || d.Always != raw(text) {
			t.Errorf("read back as %s (%v)", d.Always.Raw(), err)
		}
	}
}

func TestTextOfAScalar(t *testing.T) {
	for text, want := range map[string]string{
		`"a\u00e9\n"`: "aé\n", `""`: "", "1.50": "1.50", "true": "true", "null": "", "[1]": "", `{"a":1}`: "", "": "",
	} {
		if got := raw(text).Text(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestScalarsAreWhatAPathCanCarry(t *testing.T) {
	for text, want := range map[string]bool{`"x"`: true, "1": true, "false": true, "null": false, "[]": false, "{}": false, "": false} {
		if got := raw(text).IsScalar(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMembersAndElementsAreKeptExactly(t *testing.T) {
	m, ok := raw(`{"a" : 1.0 , "b" : null , "\u0063" : [ ]}`).Object()
	if !ok || len(m) != 3 || m["a"].Raw() != "1.0" || !m["b"].IsNull() || m["c"].Kind() != countersign.KindArray {
		t.Errorf("got %v %v", m, ok)
	}
	a, ok := raw(`[ 1.0 , null , {} ]`).Array()
	if !ok || len(a) != 3 || a[0].Raw() != "1.0" || !a[1].IsNull() {
		t.Errorf("got %v %v", a, ok)
	}
	if _, ok := raw(`[]`).Object(); ok {
		t.Error("an array is no object")
	}
	if _, ok := raw(`{}`).Array(); ok {
		t.Error("an object is no array")
	}
}

// TestAValueIsTheSameTextBeforeAndAfterItIsStored: digests are taken of it.
func TestAValueIsTheSameTextBeforeAndAfterItIsStored(t *testing.T) {
	for _, text := range []string{
		` { "b" : 1.50 , "a" : [ 1 , { } , "x  y" ] } `, "[\n\t1e0,\r\n\"\\u0000 \\ud83d\\ude00 <&>\" ]", `"  "`, " 249.00 ", "{}", "null", "[ ]",
	} {
		before := countersign.RawValue(text)
		doc, err := countersign.Marshal(map[string]countersign.Value{"v": before})
		if err != nil {
			t.Fatal(err)
		}
		var after map[string]countersign.Value
		if err := json.Unmarshal(doc, &after); err != nil {
			t.Fatal(err)
		}
		var read countersign.Value
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		if before.Raw() != after["v"].Raw() || read.Raw() != before.Raw() {
			t.Errorf("%q: taken as %q, read as %q, stored as %q", text, before.Raw(), read.Raw(), after["v"].Raw())
		}
	}
}

// TestValuesAreReadAsEncodingJSONDoes: their text without blanks, and what a string means,
// also of text that is no JSON.
func TestValuesAreReadAsEncodingJSONDoes(t *testing.T) {
	pieces := []string{`"`, `"`, `\`, `\"`, `\\`, `\u0041`, " ", "\t", "\n", "a", "é", "\xff", "\u2028", "1", ",", ":", "{", "}", "[", "]", `"a b"`, `"a"`}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		var text string
		for range r.IntN(8) {
			text += pieces[r.IntN(len(pieces))]
		}
		if r.IntN(2) == 0 {
			text = `"` + text + `"`
		}
		want := strings.Trim(text, " \t\r\n")
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(want)) == nil {
			want = compact.String()
		}
		v := raw(text)
		if v.Raw() != want {
			t.Fatalf("%q is kept as %q, want %q", text, v.Raw(), want)
		}
		var meant string
		if v.Kind() == countersign.KindString {
			if json.Unmarshal([]byte(want), &meant) != nil {
				meant = ""
			}
			if v.Text() != meant {
				t.Fatalf("%q means %q, want %q", text, v.Text(), meant)
			}
		}
	}
}
