package text

import (
	"fmt"
	"html/template"
	"reflect"
	"strings"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// Display of untrusted values: hidden characters are escaped, text that could change
// the direction of its surroundings is isolated, and a mark follows text that may be
// misleading. Templates don't call these functions: [shownIn] adds them to every value.

// shown is a value as text on one line: line feeds are escaped.
func shown(v any) any { return shownAs(v, safetext.Escaped) }

// shownLines is a value as text of several lines, such as a reason.
func shownLines(v any) any { return shownAs(v, safetext.EscapedLines) }

func shownAs(v any, escaped func(string) string) any {
	text, ok := textOf(v)
	if !ok {
		return v
	}
	seen, doubt := escaped(text), safetext.Doubt(text)
	switch {
	case doubt == "" && safetext.Turns(text):
		return template.HTML(Isolated("", seen)) //nolint:gosec // escaped
	case doubt != "":
		return template.HTML(Isolated("", seen) + DoubtMark(doubt)) //nolint:gosec // escaped
	case seen != text:
		return seen
	}
	return v
}

// shownAside is a value where no markup is possible: in an attribute or an option.
func shownAside(v any) any {
	if text, ok := textOf(v); ok {
		return safetext.Value(text)
	}
	return v
}

// textOf is the text that a template would write for a value. Values of markup types
// were escaped by their makers.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case nil, template.HTML, template.HTMLAttr, template.URL, template.CSS, template.JS, template.JSStr, template.Srcset:
		return "", false
	case string:
		return v, true
	case error:
		return v.Error(), true
	case fmt.Stringer:
		return v.String(), true
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.String {
		return r.String(), true
	}
	return "", false
}

// Isolated wraps a value, whose hidden characters are already escaped, in a bdi
// element.
func Isolated(class, seen string) string {
	if class != "" {
		class = ` class="` + class + `"`
	}
	return `<bdi` + class + `>` + template.HTMLEscapeString(seen) + `</bdi>`
}

// DoubtMark follows text that may be misleading; "" without a doubt.
func DoubtMark(doubt string) string {
	if doubt == "" {
		return ""
	}
	return ` <span class="doubt">` + doubt + `</span>`
}

// breakable allows line breaks after slashes.
func breakable(path string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(path), "/", "/<wbr>")) //nolint:gosec // escaped
}
