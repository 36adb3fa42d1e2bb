package exactjson

import "github.com/countersign/countersign"

// tape is a checked document as a list of its values and keys in document
// order. Each knows where the next one on its level stands, so that a reader
// can step over a value, or look for one member before it reads the others,
// without going through the text again.
type tape struct {
	data  []byte
	nodes []node
}

// node is a value or a key (a string before its value). The text is
// data[start:end]; next is the index of the node behind all that it holds.
type node struct {
	start, end, next int32
	kind             uint8
	escaped          bool
}

// record checks data and makes its tape.
func record(data []byte) (*tape, *fault) {
	t := &tape{data: data, nodes: make([]node, 0, len(data)/8+1)}
	s := scanner{data: data, tape: t}
	return t, s.document()
}

// begin opens an object or array. A nil tape records nothing.
func (t *tape) begin(kind countersign.Kind, start int) int {
	if t == nil {
		return 0
	}
	t.nodes = append(t.nodes, node{start: int32(start), kind: uint8(kind)})
	return len(t.nodes) - 1
}

// end closes the object or array that begin opened as at.
func (t *tape) end(at, end int) {
	if t == nil {
		return
	}
	t.nodes[at].end = int32(end)
	t.nodes[at].next = int32(len(t.nodes))
}

func (t *tape) scalar(kind countersign.Kind, start, end int) {
	if t == nil {
		return
	}
	t.nodes = append(t.nodes, node{start: int32(start), end: int32(end), next: int32(len(t.nodes) + 1), kind: uint8(kind)})
}

func (t *tape) text(start, end int, escaped bool) {
	if t == nil {
		return
	}
	t.scalar(countersign.KindString, start, end)
	t.nodes[len(t.nodes)-1].escaped = escaped
}

func (t *tape) kind(at int) countersign.Kind { return countersign.Kind(t.nodes[at].kind) }

// next is the node after at on the same level.
func (t *tape) next(at int) int { return int(t.nodes[at].next) }

// source is the text of a value as it was sent.
func (t *tape) source(at int) []byte { return t.data[t.nodes[at].start:t.nodes[at].end] }

// content is what a string or key says.
func (t *tape) content(at int) []byte { return content(t.source(at), t.nodes[at].escaped) }
