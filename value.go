package countersign

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is any JSON value, kept exactly as it was written: numbers digit for
// digit, an explicit null distinct from an absent value, object keys in their
// order. The zero Value is "absent"; a field of type Value tagged `omitzero` is
// left out when absent and written as null when it holds null.
//
// A Value is immutable. Values that arrive from outside were checked by
// internal/rules/exactjson first (unique keys, valid UTF-8, bounded depth and exponents).
type Value struct{ raw string }

// Kind is the JSON type of a Value.
type Kind int

// The kinds. KindAbsent is the zero Value's.
const (
	KindAbsent Kind = iota
	KindNull
	KindBoolean
	KindNumber
	KindString
	KindArray
	KindObject
)

func (k Kind) String() string {
	return [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}[k]
}

// Null is the explicit null.
var Null = Value{"null"}

// RawValue takes JSON text as it is, digits, order and escapes included, without
// its insignificant blanks. The text must be valid JSON.
func RawValue(text string) Value { return Value{withoutBlanks(text)} }

// withoutBlanks makes a value the same text before and after it was stored:
// encoding/json writes a document without blanks, and a digest taken of the one
// would not be that of the other.
func withoutBlanks(text string) string {
	text = strings.Trim(text, blanks)
	if !hasBlanks(text) {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text // no JSON: whoever checks it says so
	}
	return b.String()
}

const blanks = " \t\r\n"

// hasBlanks reports blanks between the tokens of JSON text: those in strings, such as of
// any sentence, stay.
func hasBlanks(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			return true
		case '"':
			i += endOfString(text[i+1:])
		}
	}
	return false
}

// endOfString is how many bytes stand from behind the quote that begins a string to the
// one that ends it, with that.
func endOfString(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// String makes a JSON string value.
func String(s string) Value { return Value{string(appendString(nil, s))} }

// Bool makes true or false.
func Bool(b bool) Value { return Value{strconv.FormatBool(b)} }

// Int makes a whole number.
func Int(i int64) Value { return Value{strconv.FormatInt(i, 10)} }

// ObjectValue makes an object with sorted keys. An absent Value is written as
// null, as it is in any map.
func ObjectValue(m map[string]Value) Value { return Value{string(appendObject(nil, m))} }

// ArrayValue makes an array. An absent Value is written as null.
func ArrayValue(list []Value) Value {
	raw := []byte{'['}
	for i, v := range list {
		if i > 0 {
			raw = append(raw, ',')
		}
		if v.IsZero() {
			v = Null
		}
		raw = append(raw, v.raw...)
	}
	return Value{string(append(raw, ']'))}
}

// ValueOf encodes any plain Go value (a struct of the vocabulary, say).
func ValueOf(v any) (Value, error) {
	b, err := Marshal(v)
	if err != nil {
		return Value{}, err
	}
	return Value{string(b)}, nil
}

// Raw is the JSON text, "" when absent.
func (v Value) Raw() string { return v.raw }

// IsZero reports absence (encoding/json's omitzero).
func (v Value) IsZero() bool { return v.raw == "" }

// IsNull reports an explicit null.
func (v Value) IsNull() bool { return v.raw == "null" }

// Kind tells the JSON type from the first byte.
func (v Value) Kind() Kind {
	if v.raw == "" {
		return KindAbsent
	}
	switch v.raw[0] {
	case 'n':
		return KindNull
	case 't', 'f':
		return KindBoolean
	case '"':
		return KindString
	case '[':
		return KindArray
	case '{':
		return KindObject
	default:
		return KindNumber
	}
}

// IsScalar reports a string, number or boolean: what a path or query can carry.
func (v Value) IsScalar() bool {
	k := v.Kind()
	return k == KindString || k == KindNumber || k == KindBoolean
}

// Text is the content of a string, and the text as written of a number or
// boolean. It is "" for everything else.
func (v Value) Text() string {
	switch v.Kind() {
	case KindString:
		if s, whole := strings.CutSuffix(v.raw[1:], `"`); whole && isPlain(s) {
			return s
		}
		var s string
		if json.Unmarshal([]byte(v.raw), &s) != nil {
			return ""
		}
		return s
	case KindNumber, KindBoolean:
		return v.raw
	default:
		return ""
	}
}

// isPlain reports a text that means itself in a JSON string.
func isPlain(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Object splits an object into its members; ok is false for any other kind.
func (v Value) Object() (m map[string]Value, ok bool) {
	if v.Kind() != KindObject {
		return nil, false
	}
	ok = json.Unmarshal([]byte(v.raw), &m) == nil
	return m, ok
}

// Array splits an array into its elements; ok is false for any other kind.
func (v Value) Array() (a []Value, ok bool) {
	if v.Kind() != KindArray {
		return nil, false
	}
	ok = json.Unmarshal([]byte(v.raw), &a) == nil
	return a, ok
}

// MarshalJSON writes the value as it was read; absent writes null.
func (v Value) MarshalJSON() ([]byte, error) { return v.appendJSON(nil), nil }

func (v Value) appendJSON(b []byte) []byte {
	if v.raw == "" {
		return append(b, Null.raw...)
	}
	return append(b, v.raw...)
}

// UnmarshalJSON keeps the text without its blanks, null included.
func (v *Value) UnmarshalJSON(b []byte) error {
	v.raw = withoutBlanks(string(b))
	return nil
}

// Listed is the value as lists show it: a long one gives way to its length and
// digest.
func Listed(v Value) Value {
	if len(v.raw) <= MaxListedValue {
		return v
	}
	return Value{`{"$omitted":{"bytes":` + strconv.Itoa(len(v.raw)) + `,"sha256":"` + SHA256Hex([]byte(v.raw)) + `"}}`}
}

func appendObject(b []byte, m map[string]Value) []byte {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, k)
		b = append(b, ':')
		if v := m[k]; v.IsZero() {
			b = append(b, Null.raw...) // as encoding/json writes an absent Value
		} else {
			b = append(b, v.raw...)
		}
	}
	return append(b, '}')
}
