package countersign

import (
	"strconv"
	"strings"
)

// Lookup finds a field of an output (contract 5): an exact key first, else a
// dotted path whose digits index arrays; below the first key the rest is looked
// up alike. A null that is there is found. Outputs come from outside, so nothing
// is decoded that the path does not lead through.
func (v Value) Lookup(field string) (Value, bool) {
	for {
		head, rest, dotted := strings.Cut(field, ".")
		exact, first := v.children(field, head)
		switch {
		case !exact.IsZero():
			return Value{strings.Clone(exact.raw)}, true
		case !dotted || first.IsZero():
			return Value{}, false
		}
		v, field = first, rest
	}
}

// children finds what a whole field and its head name in v; absent is neither.
func (v Value) children(whole, head string) (exact, first Value) {
	switch v.Kind() {
	case KindObject:
		return v.members(whole, head)
	case KindArray:
		first = v.element(head)
	}
	if whole == head {
		exact = first
	}
	return exact, first
}

func (v Value) members(whole, head string) (exact, first Value) {
	c := cursor{src: v.raw}
	for c.pos++; c.more('}'); {
		key := c.text()
		c.colon()
		start := c.pos
		c.skip()
		switch key {
		case whole:
			return Value{v.raw[start:c.pos]}, Value{}
		case head:
			first = Value{v.raw[start:c.pos]}
		}
	}
	return Value{}, first
}

func (v Value) element(index string) Value {
	n, err := strconv.Atoi(index)
	if err != nil || n < 0 || strconv.Itoa(n) != index {
		return Value{}
	}
	c := cursor{src: v.raw}
	for c.pos++; c.more(']'); n-- {
		start := c.pos
		c.skip()
		if n == 0 {
			return Value{v.raw[start:c.pos]}
		}
	}
	return Value{}
}
