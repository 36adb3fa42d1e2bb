package receipt

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// node is a value of a receipt, read by its exact member names. A value that is
// missing or of another type reads as "" or an empty list.
type node struct{ v any }

// parse reads JSON whose numbers keep their digits.
func parse(text []byte) node {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if !json.Valid(text) || d.Decode(&v) != nil {
		return node{}
	}
	return node{v}
}

func (n node) at(name string) node {
	m, _ := n.v.(map[string]any)
	return node{m[name]}
}

func (n node) has(name string) bool {
	m, _ := n.v.(map[string]any)
	_, ok := m[name]
	return ok
}

func (n node) exists() bool { return n.v != nil }

func (n node) isTrue() bool { return n.v == true }

func (n node) text() string {
	s, _ := n.v.(string)
	return s
}

func (n node) list() []node {
	list, _ := n.v.([]any)
	out := make([]node, len(list))
	for i, v := range list {
		out[i] = node{v}
	}
	return out
}

// number is the digits of a number.
func (n node) number() string {
	text, _ := n.v.(json.Number)
	return text.String()
}

// whole is a number that counts something, below 10^15; -1 for anything else.
func (n node) whole() int64 {
	const digits = 15
	text := n.number()
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || i < 0 || len(text) > digits {
		return -1
	}
	return i
}

func appendNetstring(b []byte, text string) []byte {
	b = strconv.AppendInt(b, int64(len(text)), 10)
	return append(append(append(b, ':'), text...), ',')
}
