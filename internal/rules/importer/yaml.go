package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// maxAliased bounds the values that aliases add to those of the text: a few kilobytes of them
// can stand for any number, at some hundred bytes of memory each.
const maxAliased = 100_000

// yamlTree reads YAML as the equivalent JSON, by the rules for JSON: unique keys, bounded
// depth. It converts the library's nodes itself, since the library's decoder compares each key
// of a mapping with every other one.
func yamlTree(data []byte, left *int) (any, error) {
	if len(data) > MaxYAMLBytes {
		return nil, fmt.Errorf("it is YAML of more than %d bytes; convert it to JSON", MaxYAMLBytes)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	if n := yamlValues(data); n > maxYAMLValues {
		return nil, fmt.Errorf("it is YAML of more than %d values; convert it to JSON", maxYAMLValues)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is neither a JSON object nor a YAML mapping")
	}
	t := yamlTurn{left: maxAliased, values: left}
	return t.turn(root.Content[0], place{})
}

// yamlValues is a bound of how many values a text can have: each stands behind an indicator
// or on a line of its own.
func yamlValues(data []byte) (n int) {
	for i, c := range data {
		switch c {
		case '\n', '[', '{', ',':
			n++
		case ':', '?', '-':
			if i+1 == len(data) || data[i+1] <= ' ' {
				n++
			}
		}
	}
	return n
}

type yamlTurn struct {
	values  *int // what is left of maxValues
	left    int  // of maxAliased
	aliases int  // how many aliases lead here
}

func (t *yamlTurn) turn(n *yaml.Node, p place) (any, error) {
	if t.aliases > 0 {
		t.left--
	}
	*t.values--
	switch {
	case *t.values < 0:
		return nil, errTooMany
	case t.left < 0:
		return nil, fmt.Errorf("line %d: its aliases stand for more than %d values; write them out, or convert it to JSON", n.Line, maxAliased)
	case p.depth >= countersign.MaxJSONDepth:
		return nil, fmt.Errorf("line %d: it is nested deeper than %d levels", n.Line, countersign.MaxJSONDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		t.aliases++
		defer func() { t.aliases-- }()
		return t.turn(n.Alias, place{p.depth + 1, p.named})
	case yaml.MappingNode:
		return t.mapping(n, p)
	case yaml.SequenceNode:
		return t.sequence(n, p)
	default:
		return scalar(n), nil
	}
}

func (t *yamlTurn) mapping(n *yaml.Node, p place) (any, error) {
	out := make(object, 0, len(n.Content)/2)
	known := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: a key must be plain text", key.Line)
		case key.ShortTag() == "!!merge":
			return nil, fmt.Errorf("line %d: merge keys (<<) stand for no JSON; write the fields out", key.Line)
		}
		if known[key.Value] {
			return nil, fmt.Errorf("line %d: the key %q is there already", key.Line, short(key.Value, 60))
		}
		known[key.Value] = true
		at, keep := p.below(key.Value)
		value, err := t.turn(n.Content[i+1], at)
		if err != nil {
			return nil, err
		}
		if keep {
			out = append(out, member{key.Value, value})
		}
	}
	return out.sorted(), nil
}

func (t *yamlTurn) sequence(n *yaml.Node, p place) (any, error) {
	out := make([]any, len(n.Content))
	for i, item := range n.Content {
		value, err := t.turn(item, place{p.depth + 1, p.named})
		if err != nil {
			return nil, err
		}
		out[i] = value
	}
	return out, nil
}

// number is a YAML number that JSON can't spell, such as 0x10. Nothing reads its value.
type number struct{}

func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if v := countersign.RawValue(n.Value); exactjson.Check([]byte(n.Value)) == nil && v.Kind() == countersign.KindNumber {
			return json.Number(n.Value)
		}
		return number{}
	default:
		return n.Value
	}
}
