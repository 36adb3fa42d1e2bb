package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// fromYAML returns the documents of a YAML text as JSON texts. It takes the part of YAML that
// stands for JSON: each value as it is written, and nothing that has to be worked out. Keys
// that stand twice are found in the JSON.
func fromYAML(data []byte) (docs []string, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var root yaml.Node
		err := d.Decode(&root)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
		var b strings.Builder
		if err := writeJSON(&b, &root, 0); err != nil {
			return nil, err
		}
		docs = append(docs, b.String())
	}
}

func writeJSON(b *strings.Builder, n *yaml.Node, depth int) error {
	switch {
	case depth > countersign.MaxJSONDepth+1:
		return fmt.Errorf("line %d: it is nested deeper than %d levels", n.Line, countersign.MaxJSONDepth)
	case n.Kind == yaml.DocumentNode && len(n.Content) == 1:
		return writeJSON(b, n.Content[0], depth)
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("line %d: aliases (*) aren't taken; write the value out", n.Line)
	case n.Kind == yaml.ScalarNode:
		return writeScalar(b, n)
	}
	brackets, mapping := "[]", n.Kind == yaml.MappingNode
	if mapping {
		brackets = "{}"
	}
	b.WriteByte(brackets[0])
	for i, item := range n.Content {
		switch {
		case i == 0:
		case mapping && i%2 == 1:
			b.WriteByte(':')
		default:
			b.WriteByte(',')
		}
		if mapping && i%2 == 0 {
			if item.Kind != yaml.ScalarNode || item.ShortTag() == "!!merge" {
				return fmt.Errorf("line %d: a key must be plain text, and no merge key (<<)", item.Line)
			}
			b.WriteString(countersign.String(item.Value).Raw())
			continue
		}
		if err := writeJSON(b, item, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte(brackets[1])
	return nil
}

// writeScalar writes a number digit for digit. What YAML takes for a number and JSON doesn't,
// such as 0x10 or 007, may have been meant as a text: whoever wrote it says which.
func writeScalar(b *strings.Builder, n *yaml.Node) error {
	tag, plain := n.ShortTag(), n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
	switch {
	case n.Style&yaml.TaggedStyle != 0 && tag != "!!str":
		return fmt.Errorf("line %d: tags such as %s aren't taken", n.Line, short(n.Tag))
	case plain && tag == "!!null":
		b.WriteString("null")
	case plain && tag == "!!bool":
		b.WriteString(strings.ToLower(n.Value))
	case plain && isNumber(n.Value):
		b.WriteString(n.Value)
	case plain && (tag == "!!int" || tag == "!!float"):
		return fmt.Errorf("line %d: %s is no number as JSON has them; write it as one, or in quotes", n.Line, short(n.Value))
	default:
		b.WriteString(countersign.String(n.Value).Raw())
	}
	return nil
}

func isNumber(text string) bool {
	return countersign.RawValue(text).Kind() == countersign.KindNumber && exactjson.Check([]byte(text)) == nil
}

// short is a text as a message has room for it.
func short(text string) string {
	const most = 120
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// toYAML writes JSON as YAML, keys in their order, that fromYAML reads as the same JSON.
func toYAML(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n, err := node(d)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err = errors.Join(e.Encode(n), e.Close())
	return b.Bytes(), err
}

// plainText is text that no reader of YAML takes for anything else, but for words.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// words mean something in one version of YAML or another.
var words = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true, "nan": true, "inf": true}

func node(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := token.(type) {
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(v)
	case json.Number:
		n.Value = v.String() // without a tag: fromYAML reads it digit for digit
	case string:
		n.Tag, n.Value = "!!str", v
		if !plainText.MatchString(v) || words[strings.ToLower(v)] {
			n.Style = yaml.DoubleQuotedStyle
		}
	case json.Delim:
		n.Kind = yaml.SequenceNode
		if v == '{' {
			n.Kind = yaml.MappingNode
		}
		for d.More() {
			item, err := node(d)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, item)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err = d.Token()
	}
	return n, err
}
