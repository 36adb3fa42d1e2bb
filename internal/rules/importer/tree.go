package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/rules/exactjson"
)

// object is an object of a document, its members sorted by their names: a third of what a map
// of so few takes.
type object []member

type member struct {
	key   string
	value any
}

func (o object) get(key string) (any, bool) {
	i, ok := slices.BinarySearchFunc(o, key, func(m member, key string) int { return strings.Compare(m.key, key) })
	if !ok {
		return nil, false
	}
	return o[i].value, true
}

func (o object) sorted() object {
	slices.SortFunc(o, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	return slices.Clip(o)
}

// named are the members of OpenAPI whose own members have names that the document chooses.
var named = map[string]bool{
	"paths": true, "properties": true, "patternProperties": true, "schemas": true, "definitions": true, "$defs": true,
	"parameters": true, "responses": true, "requestBodies": true, "securitySchemes": true, "securityDefinitions": true,
	"pathItems": true, "headers": true, "content": true, "variables": true, "security": true,
}

// place is where a value of a document stands.
type place struct {
	depth int
	named bool // its members have names that the document chooses
}

// below is the place of a member, or keep is false for what no proposal reads: examples and
// extensions are the greater part of many a document.
func (p place) below(key string) (_ place, keep bool) {
	switch at := (place{depth: p.depth + 1, named: !p.named && named[key]}); {
	case p.named || p.depth == 0:
		return at, true
	case strings.HasPrefix(key, "x-"):
		return at, slices.Contains(extensions, key)
	default:
		return at, !unread[key]
	}
}

var unread = map[string]bool{"examples": true, "externalDocs": true, "links": true, "callbacks": true, "discriminator": true, "xml": true}

// maxValues bounds the values that a document's texts are kept as, at some 70 bytes each, and
// maxYAMLValues those of one in YAML, whose parser takes 200.
const (
	maxValues     = 600_000
	maxYAMLValues = 250_000
)

var errTooMany = fmt.Errorf("it has more than %d values; choose a part of it", maxValues)

// jsonTree reads a text that is known to be JSON, and keeps parts of it as its strings.
func jsonTree(data []byte, left *int) (any, error) {
	if err := exactjson.Check(data); err != nil {
		return nil, err
	}
	t := jsonText{text: string(data), left: left}
	out := t.value(place{})
	if *left < 0 {
		return nil, errTooMany
	}
	return out, nil
}

type jsonText struct {
	text string
	at   int
	left *int // of maxValues
}

// next is the first character that is no space, and leaves it to be read.
func (t *jsonText) next() byte {
	for strings.IndexByte(" \t\r\n", t.text[t.at]) >= 0 {
		t.at++
	}
	return t.text[t.at]
}

func (t *jsonText) value(p place) any {
	*t.left--
	switch c := t.next(); c {
	case '{':
		return t.object(p)
	case '[':
		return t.list(p)
	case '"':
		return t.string()
	case 't', 'n':
		t.at += len("true")
		if c == 'n' {
			return nil
		}
		return true
	case 'f':
		t.at += len("false")
		return false
	}
	from := t.at
	for t.at < len(t.text) && strings.IndexByte("+-.0123456789Ee", t.text[t.at]) >= 0 {
		t.at++
	}
	return json.Number(t.text[from:t.at])
}

func (t *jsonText) object(p place) any {
	out := object{}
	for t.at++; t.next() != '}' && *t.left >= 0; {
		if t.text[t.at] == ',' {
			t.at++
			t.next()
		}
		key := t.string()
		t.next()
		t.at++ // the colon
		if at, keep := p.below(key); keep {
			out = append(out, member{key, t.value(at)})
		} else {
			t.skip()
		}
	}
	t.at++
	return out.sorted()
}

func (t *jsonText) list(p place) any {
	out := []any{}
	for t.at++; t.next() != ']' && *t.left >= 0; {
		if t.text[t.at] == ',' {
			t.at++
		}
		out = append(out, t.value(p))
	}
	t.at++
	return slices.Clip(out)
}

func (t *jsonText) string() string {
	from, plain := t.at, true
	for t.at++; t.text[t.at] != '"'; t.at++ {
		if t.text[t.at] == '\\' {
			plain = false
			t.at++
		}
	}
	t.at++
	if plain {
		return t.text[from+1 : t.at-1]
	}
	var out string
	_ = json.Unmarshal([]byte(t.text[from:t.at]), &out) // it is JSON
	return out
}

// skip passes over a value.
func (t *jsonText) skip() {
	switch t.next() {
	case '{', '[':
		for open := 0; ; {
			switch t.text[t.at] {
			case '"':
				t.string()
				continue
			case '{', '[':
				open++
			case '}', ']':
				open--
			}
			if t.at++; open == 0 {
				return
			}
		}
	case '"':
		t.string()
	default:
		for t.at < len(t.text) && strings.IndexByte(",]} \t\r\n", t.text[t.at]) < 0 {
			t.at++
		}
	}
}
