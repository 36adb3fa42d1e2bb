package countersign_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

func TestCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    ``,
		`null`:                                `null`,
		` [ true , false , null ] `:           `[true,false,null]`,
		`{}`:                                  `{}`,
		`[ ]`:                                 `[]`,
		`{"b":1,"a":{"d":[],"c":{}}}`:         `{"a":{"c":{},"d":[]},"b":1}`,
		`{"a":{"y":1,"x":2},"B":0,"":3}`:      `{"":3,"B":0,"a":{"x":2,"y":1}}`,
		`{"\u0062":1,"a":2}`:                  `{"a":2,"b":1}`,
		`"\u0061\/\u003c\u00e9\u000a\u0007"`:  `"a/<é\n\u0007"`,
		`"\b\f\r\t\"\\"`:                      `"\u0008\u000c\r\t\"\\"`,
		`[1.0,1e0,10e-1,-0,0.50,1E3,-1.5e-7]`: `[1,1,1,0,5e-1,1000,-15e-8]`,
	} {
		if got := string(raw(text).Canonical()); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestEqualIsWholeJSONEquality(t *testing.T) {
	for _, pair := range [][2]string{
		{"1", "1.0"}, {"1", "1e0"}, {"1", "10e-1"}, {"0", "-0"}, {"0", "0.000e9"}, {"100", "1e2"}, {"-0.5", "-5E-1"},
		{`{"a":1,"b":[2]}`, ` {"b":[2.0], "a":1} `}, {`"\u0041"`, `"A"`}, {`"\ud834\udd1e"`, `"𝄞"`}, {"", ""},
	} {
		if !raw(pair[0]).Equal(raw(pair[1])) || raw(pair[0]).Digest() != raw(pair[1]).Digest() {
			t.Errorf("%s and %s differ", pair[0], pair[1])
		}
	}
}

func TestUnequalValuesDiffer(t *testing.T) {
	for _, pair := range [][2]string{
		{"9007199254740993", "9007199254740992"}, {"1", "1.0000000000000000000000001"}, {"1e999999999", "1e999999998"}, {"1", "-1"},
		{"1", `"1"`}, {"null", ""}, {"null", "0"}, {"null", `""`}, {"[]", "{}"}, {"[1,2]", "[2,1]"}, {"[[1],2]", "[1,[2]]"},
		{`{"a":null}`, `{}`}, {`{"a":1}`, `{"A":1}`}, {"true", "false"}, {`"é"`, `"e\u0301"`}, {`"a"`, `"a "`},
	} {
		if raw(pair[0]).Equal(raw(pair[1])) || raw(pair[0]).Digest() == raw(pair[1]).Digest() {
			t.Errorf("%s and %s are equal", pair[0], pair[1])
		}
	}
}

func TestDigestIsSHA256OfTheCanonicalForm(t *testing.T) {
	const want = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862" // of {"a":1}
	got, err := countersign.CanonicalDigest(map[string]float64{"a": 1})
	if err != nil || got != want || raw(`{ "a" : 1.0 }`).Digest() != want || countersign.SHA256Hex([]byte(`{"a":1}`)) != want {
		t.Errorf("got %s (%v)", got, err)
	}
}

// node is a JSON value apart from how it is spelt.
type node struct {
	literal string // a number's digits, a string's content or a word
	kind    countersign.Kind
	power   int // of ten, of a number
	items   []node
	keys    []string
}

func drawNode(t *rapid.T, depth int) node {
	kinds := []countersign.Kind{countersign.KindNull, countersign.KindBoolean, countersign.KindNumber, countersign.KindString, countersign.KindArray, countersign.KindObject}
	if depth == 0 {
		kinds = kinds[:4]
	}
	n := node{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch n.kind {
	case countersign.KindNull:
		n.literal = "null"
	case countersign.KindBoolean:
		n.literal = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "boolean")
	case countersign.KindNumber:
		n.literal = rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})`).Draw(t, "digits")
		n.power = rapid.IntRange(-30, 30).Draw(t, "power")
	case countersign.KindString:
		n.literal = rapid.String().Draw(t, "string")
	default:
		n.keys = rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID[string]).Draw(t, "keys")
		for range n.keys {
			n.items = append(n.items, drawNode(t, depth-1))
		}
	}
	return n
}

// spell writes a node in one of the many ways JSON allows.
func (n node) spell(t *rapid.T) string {
	gap := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r"}).Draw(t, "gap") }
	switch n.kind {
	case countersign.KindNumber:
		return gap() + spellNumber(t, n.literal, n.power) + gap()
	case countersign.KindString:
		return gap() + spellString(t, n.literal) + gap()
	case countersign.KindArray:
		var items []string
		for _, item := range n.items {
			items = append(items, item.spell(t))
		}
		return gap() + "[" + gap() + strings.Join(items, ",") + "]" + gap()
	case countersign.KindObject:
		var members []string
		for _, i := range rapid.Permutation(indices(len(n.keys))).Draw(t, "order") {
			members = append(members, gap()+spellString(t, n.keys[i])+gap()+":"+n.items[i].spell(t))
		}
		return gap() + "{" + gap() + strings.Join(members, ",") + "}" + gap()
	default:
		return gap() + n.literal + gap()
	}
}

func indices(n int) []int {
	is := make([]int, n)
	for i := range is {
		is[i] = i
	}
	return is
}

// spellNumber moves the decimal point and adds zeros.
func spellNumber(t *rapid.T, digits string, power int) string {
	zeros := rapid.IntRange(0, 3).Draw(t, "zeros")
	digits, sign := strings.CutPrefix(digits, "-")
	if digits != "0" {
		digits, power = digits+strings.Repeat("0", zeros), power-zeros
	}
	text := digits
	if point := rapid.IntRange(1, len(digits)).Draw(t, "point"); point < len(digits) {
		text, power = digits[:point]+"."+digits[point:], power+len(digits)-point
	}
	if sign {
		text = "-" + text
	}
	if power == 0 && rapid.Bool().Draw(t, "plain") {
		return text
	}
	return text + rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + strconv.Itoa(power)
}

// spellString escapes some characters that need no escape.
func spellString(t *rapid.T, s string) string {
	if rapid.Bool().Draw(t, "made by us") {
		return countersign.String(s).Raw()
	}
	b, _ := json.Marshal(s)                             // escapes < > & and the line separators
	return strings.ReplaceAll(string(b), "A", `\u0041`) // no escape of encoding/json has an A
}

func TestCanonicalIsTheSameHoweverAValueIsSpelt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, 3)
		v, w := raw(n.spell(t)), raw(n.spell(t))
		if !json.Valid([]byte(v.Raw())) {
			t.Fatalf("the test wrote bad JSON: %s", v.Raw())
		}
		if string(v.Canonical()) != string(w.Canonical()) || !v.Equal(w) || v.Digest() != w.Digest() {
			t.Fatalf("%s\n%s\nare %s\nand %s", v.Raw(), w.Raw(), v.Canonical(), w.Canonical())
		}
	})
}

func TestCanonicalIsIdempotentAndJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := raw(drawNode(t, 3).spell(t))
		once := v.Canonical()
		if !json.Valid(once) || !v.Equal(raw(string(once))) {
			t.Fatalf("%s became %s", v.Raw(), once)
		}
		if twice := raw(string(once)).Canonical(); string(twice) != string(once) {
			t.Fatalf("%s became %s, then %s", v.Raw(), once, twice)
		}
	})
}

func TestLookupAgreesWithSplitting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := raw(drawNode(t, 2).spell(t))
		m, _ := v.Object()
		for key, want := range m {
			if got, ok := v.Lookup(key); !ok || got != want {
				t.Fatalf("%q in %s: got %s %v, want %s", key, v.Raw(), got.Raw(), ok, want.Raw())
			}
		}
		a, _ := v.Array()
		for i, want := range a {
			if got, ok := v.Lookup(strconv.Itoa(i)); !ok || got != want {
				t.Fatalf("%d in %s: got %s %v, want %s", i, v.Raw(), got.Raw(), ok, want.Raw())
			}
		}
	})
}
