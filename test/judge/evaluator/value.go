package evaluator

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode"
)

// parse reads one JSON value with its numbers as they are spelled.
func parse(text string) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err == nil
}

func number(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

// equal is whole JSON equality: numbers by exact value, objects in any order of their members.
func equal(a, b any) bool { return canonical(a) == canonical(b) }

// canonical is a text that two values have in common if they are equal.
func canonical(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for i, k := range keys {
			name, _ := json.Marshal(k) // a string can always be written
			keys[i] = string(name) + ":" + canonical(v[k])
		}
		return "{" + strings.Join(keys, ",") + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, canonical(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case json.Number:
		if n, ok := number(v); ok {
			return n.RatString()
		}
	}
	text, _ := json.Marshal(v) // what was parsed can be written
	return string(text)
}

// Number writes a number of an answer as predictions write theirs.
func Number(spelled string) string { return canonical(json.Number(spelled)) }

// folded is the smallest of the characters that Unicode's simple case folding makes one, for each character.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

// kind is the JSON type of a value, as inputSchema names types.
func kind(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	default:
		return "null"
	}
}
