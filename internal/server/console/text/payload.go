package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// JSON for display: exact digits, original order, nested objects and arrays folded.
// Numbers are never parsed, so 249.00 stays 249.00.

// Longest is how many bytes of a value a page shows; the API returns the rest.
const Longest = 12 << 10

// payload renders a JSON value; "null" for none.
func payload(v any) template.HTML {
	raw := RawOf(v)
	if len(raw) > Longest {
		cut := safetext.JSON(strings.ToValidUTF8(raw[:Longest], ""))
		return template.HTML(`<div class="json"><div>` + Isolated("", cut) + `</div><div class="p">… ` + size(int64(len(raw))) + ` in all; the API shows it whole</div></div>`) //nolint:gosec // escaped
	}
	d := &jsonDrawing{json.NewDecoder(strings.NewReader(raw))}
	d.dec.UseNumber()
	text, end, err := d.value("", 0)
	if err != nil {
		text, end = `<div>`+Isolated("", safetext.JSON(raw)), `</div>`
	}
	return template.HTML(`<div class="json">` + text + end + `</div>`) //nolint:gosec // every text was escaped on its way in
}

// whole reports whether a page shows the value in full and may offer to copy it.
func whole(v any) bool { return len(RawOf(v)) <= Longest }

// copied is a value as its copy button copies it, with hidden characters escaped.
func copied(v any) template.HTML {
	return template.HTML(template.HTMLEscapeString(safetext.JSON(RawOf(v)))) //nolint:gosec // escaped
}

// Inline is a value as JSON on one line.
func Inline(v any) string { return RawOf(v) }

// RawOf is a value as JSON; a text stands for itself.
func RawOf(v any) string {
	switch v := v.(type) {
	case countersign.Value:
		if v.IsZero() {
			return "null"
		}
		return v.Raw()
	case string:
		return v
	}
	doc, err := countersign.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(doc)
}

type jsonDrawing struct{ dec *json.Decoder }

// value renders the next value after before. A comma may be inserted before end.
func (d jsonDrawing) value(before string, depth int) (text, end string, err error) {
	t, err := d.dec.Token()
	if err != nil {
		return "", "", err
	}
	if open, ok := t.(json.Delim); ok {
		return d.compound(open, before, depth)
	}
	return `<div>` + before + Scalar(t), `</div>`, nil
}

// Mark is a sign of JSON, such as a comma.
func Mark(s string) string { return `<span class="p">` + s + `</span>` }

// Scalar renders a scalar of JSON.
func Scalar(t json.Token) string {
	switch t := t.(type) {
	case string:
		return Isolated("s", safetext.Escaped(Quoted(t))) + DoubtMark(safetext.Doubt(t))
	case json.Number:
		return `<span class="n">` + template.HTMLEscapeString(t.String()) + `</span>`
	case bool:
		return `<span class="n">` + strconv.FormatBool(t) + `</span>`
	}
	return `<span class="n">null</span>`
}

// Keyed is a member's name.
func Keyed(key string) string {
	return Isolated("k", safetext.Escaped(Quoted(key))) + DoubtMark(safetext.Doubt(key)) + Mark(": ")
}

// Quoted is a text as JSON.
func Quoted(s string) string {
	doc, err := countersign.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(doc)
}

// compound renders an object or array, folded below the first level.
func (d jsonDrawing) compound(open json.Delim, before string, depth int) (text, end string, err error) {
	inner, n, err := d.members(open, depth)
	o, c, noun := "{", "}", Plural(n, "field", "fields")
	if open == '[' {
		o, c, noun = "[", "]", Plural(n, "item", "items")
	}
	within := `<div class="in1">` + inner + `</div><div>` + Mark(c)
	switch {
	case n == 0:
		return `<div>` + before + Mark(o+c), `</div>`, err
	case depth == 0:
		return `<div>` + before + Mark(o) + `</div>` + within, `</div>`, err
	}
	folded := `<span class="p o">` + o + `</span><span class="p c">` + o + ` ` + noun + ` ` + c + `</span>`
	return `<details><summary>` + before + folded + `</summary>` + within, `</div></details>`, err
}

// members renders and counts the members.
func (d jsonDrawing) members(open json.Delim, depth int) (inner string, n int, err error) {
	var b strings.Builder
	for ; d.dec.More(); n++ {
		before := ""
		if open == '{' {
			t, err := d.dec.Token()
			if err != nil {
				return "", 0, err
			}
			key, _ := t.(string)
			before = Keyed(key)
		}
		text, end, err := d.value(before, depth+1)
		if err != nil {
			return "", 0, err
		}
		if d.dec.More() {
			text += Mark(",")
		}
		b.WriteString(text + end)
	}
	_, err = d.dec.Token()
	return b.String(), n, err
}

// Pretty is a value as indented JSON; every number keeps its digits.
func Pretty(v any) string { return Indented(RawOf(v)) }

// Indented is JSON on several lines; every number keeps its digits.
func Indented(raw string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(raw), "", "  ") != nil {
		return raw
	}
	return b.String()
}
