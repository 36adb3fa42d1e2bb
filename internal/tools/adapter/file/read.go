package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign/internal/rules/exactjson"
)

// maxBytes bounds a FILE.
const maxBytes = 1 << 20

// Load reads and checks the FILE at a path. The error has a line for each mistake.
func Load(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is no plain file")
	case err == nil && info.Size() > maxBytes:
		err = fmt.Errorf("it is larger than %d bytes", maxBytes)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, plain(err))
	}
	f, problems := Read(data)
	if len(problems) == 0 {
		return f, nil
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = path + ":" + p
	}
	return nil, errors.New(strings.Join(lines, "\n"))
}

func plain(err error) error {
	if inner := (*os.PathError)(nil); errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// Read reads a FILE in YAML or JSON, and returns each of its mistakes as `LINE: what`.
func Read(data []byte) (*File, []string) {
	if !utf8.Valid(data) {
		return nil, []string{"1: it is not UTF-8"}
	}
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		if err := exactjson.Check(data); err != nil {
			return nil, []string{"1: " + err.Error()}
		}
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" ")) // white space in JSON; YAML takes none for indentation
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, said(err)
	}
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return nil, []string{"1: it must be a mapping with listen, store and upstreams"}
	}
	f := &File{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(f); err != nil {
		return nil, said(err)
	}
	c := check{root: root.Content[0]}
	c.file(f)
	slices.SortStableFunc(c.problems, func(a, b problem) int { return a.line - b.line })
	var lines []string
	for _, p := range c.problems {
		lines = append(lines, fmt.Sprintf("%d: %s: %s", p.line, p.path, p.words))
	}
	return f, lines
}

var (
	atLine  = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknown = regexp.MustCompile(`^field (.*) not found in type .*$`)
	ofType  = regexp.MustCompile(` into .*$`)
)

// said are the parser's problems, without words of Go.
func said(err error) (lines []string) {
	all := []string{err.Error()}
	if several := (*yaml.TypeError)(nil); errors.As(err, &several) {
		all = several.Errors
	}
	for _, text := range all {
		line, words := "1", strings.TrimPrefix(text, "yaml: ")
		if m := atLine.FindStringSubmatch(text); m != nil {
			line, words = m[1], m[2]
		}
		if m := unknown.FindStringSubmatch(words); m != nil {
			words = "there is no field " + strconv.QuoteToASCII(m[1]) + " here"
		} else if strings.HasPrefix(words, "cannot unmarshal") {
			words = "it is of the wrong type: " + ofType.ReplaceAllString(strings.TrimPrefix(words, "cannot unmarshal "), "")
		}
		lines = append(lines, line+": "+words)
	}
	return lines
}

// at is the line of a path such as upstreams[0].http.baseUrl, or of the nearest part of it that
// is there.
func at(n *yaml.Node, path string) int {
	line := n.Line
	for _, part := range regexp.MustCompile(`[^.\[\]]+`).FindAllString(path, -1) {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		if i, err := strconv.Atoi(part); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			next = n.Content[i]
			line = next.Line
		}
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				next = n.Content[i+1]
				line = n.Content[i].Line
			}
		}
		if next == nil {
			return line
		}
		n = next
	}
	return line
}
