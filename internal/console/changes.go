package console

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/plain"
)

// What a request changes since an earlier one: a comparison field by field, of
// texts, so that 89.90 and 89.9 are told apart. It is pure and leaves nothing out: who
// proposes a request must not choose which of its changes are seen.

// clipWidth is how much of a value a list shows, in bytes.
const clipWidth = 160

// alteration is a field that differs. Then or Now is "" where it is absent.
type alteration struct{ Field, Then, Now string }

// alterations are what differs between two requests and what doesn't.
type alterations struct {
	Fields []alteration
	Same   []string // names of the fields that don't differ
	Hidden []string // what the visitor may not see, so that nothing is said of it
}

// alteredFrom compares a request with an earlier one.
func alteredFrom(then, now countersign.Request) alterations {
	var out alterations
	was, _, _ := strings.Cut(then.URL, "?")
	is, _, _ := strings.Cut(now.URL, "?")
	out.text("destination", then.Method+" "+was, now.Method+" "+is)
	out.value("query", then.Query, now.Query)
	out.value("", then.Body, now.Body)
	slices.SortStableFunc(out.Fields, func(a, b alteration) int { return cmp.Compare(a.Field, b.Field) })
	return out
}

// hiddenText is what stands for a value that a VIEWER may not see.
const hiddenText = "•••"

func (a *alterations) text(field, then, now string) {
	switch {
	case strings.Contains(then, hiddenText) || strings.Contains(now, hiddenText):
		a.Hidden = append(a.Hidden, field)
	case then == now:
		a.Same = append(a.Same, field)
	default:
		a.Fields = append(a.Fields, alteration{field, then, now})
	}
}

// value compares two values, members apart where both are objects.
func (a *alterations) value(field string, then, now countersign.Value) {
	if then.IsNull() {
		then = countersign.Value{}
	}
	if now.IsNull() {
		now = countersign.Value{}
	}
	if then.IsZero() && now.IsZero() {
		return
	}
	was, one := then.Object()
	is, two := now.Object()
	if (one || then.IsZero()) && (two || now.IsZero()) {
		a.members(field, was, is)
		return
	}
	if !then.IsScalar() && !now.IsScalar() && then.Equal(now) && !strings.Contains(now.Raw(), hiddenText) {
		a.Same = append(a.Same, nameless(field)) // keys in another order say the same
		return
	}
	a.text(nameless(field), then.Raw(), now.Raw())
}

func nameless(field string) string { return cmp.Or(field, "body") }

func (a *alterations) members(field string, was, is map[string]countersign.Value) {
	names := make([]string, 0, len(was)+len(is))
	for name := range was {
		names = append(names, name)
	}
	for name := range is {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		path := name
		if field != "" {
			path = field + "." + name
		}
		then, now := was[name], is[name]
		if then.IsNull() || now.IsNull() { // an explicit null is not an absent member
			a.text(path, then.Raw(), now.Raw())
			continue
		}
		a.value(path, then, now)
	}
}

// sameAround is how long a value is before what differs in it is marked.
const sameAround = 48

// apart is a value beside another that it differs from: all of it, and in a long one
// what differs stands out.
func apart(this, other string) template.HTML {
	if this == "" {
		return "absent"
	}
	from, to := 0, len(this)
	if other != "" && len(this) > sameAround {
		from, to = differs(this, other)
	}
	out := template.HTMLEscapeString(plain.JSON(this[:from]))
	if from > 0 || to < len(this) {
		out += `<mark>` + template.HTMLEscapeString(plain.JSON(this[from:to])) + `</mark>` + template.HTMLEscapeString(plain.JSON(this[to:]))
	} else {
		out = template.HTMLEscapeString(plain.JSON(this))
	}
	return template.HTML(`<bdi>` + out + `</bdi>` + doubtMark(plain.Doubt(this))) //nolint:gosec // escaped
}

// differs is where a text stops and where it begins again to be the other, at borders of
// characters.
func differs(this, other string) (from, to int) {
	for from < len(this) && from < len(other) && this[from] == other[from] {
		from++
	}
	for from > 0 && from < len(this) && !utf8.RuneStart(this[from]) {
		from--
	}
	to = len(this)
	for rest := len(other); to > from && rest > from && this[to-1] == other[rest-1]; to, rest = to-1, rest-1 {
	}
	for to < len(this) && !utf8.RuneStart(this[to]) {
		to++
	}
	return from, to
}

// clipFrom is a bounded part of a text, at character borders.
func clipFrom(s string, from int) string {
	if from > len(s) {
		from = len(s)
	}
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	before := ""
	if from > 0 {
		before = "… "
	}
	if len(s)-from <= clipWidth {
		return before + s[from:]
	}
	end := from + clipWidth
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return before + s[from:end] + " …"
}
