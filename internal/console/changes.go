package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
)

// What a request changes since an earlier one: a comparison field by field, of
// texts, so that 89.90 and 89.9 are told apart. It is pure and bounded, whatever
// the two requests hold.

// Bounds of a comparison.
const (
	changesShown = 40  // fields that differ
	changesNamed = 24  // fields that don't
	changesDepth = 4   // levels that are compared field by field
	changesWidth = 160 // bytes of a value
)

// alteration is a field that differs. Then or Now is "" where it is absent.
type alteration struct{ Field, Then, Now string }

// alterations are what differs between two requests and what doesn't.
type alterations struct {
	Fields []alteration
	More   int      // that differ beyond those
	Same   []string // names of the fields that don't differ
	Hidden []string // what the visitor may not see, so that nothing is said of it
}

// alteredFrom compares a request with an earlier one.
func alteredFrom(then, now countersign.Request) alterations {
	var out alterations
	was, _, _ := strings.Cut(then.URL, "?")
	is, _, _ := strings.Cut(now.URL, "?")
	out.text("destination", then.Method+" "+was, now.Method+" "+is)
	out.value("query", then.Query, now.Query, changesDepth)
	out.value("", then.Body, now.Body, changesDepth)
	slices.SortStableFunc(out.Fields, func(a, b alteration) int { return cmp.Compare(a.Field, b.Field) })
	if n := len(out.Fields) - changesShown; n > 0 {
		out.Fields, out.More = out.Fields[:changesShown], n
	}
	if n := len(out.Same) - changesNamed; n > 0 {
		out.Same = append(out.Same[:changesNamed], strconv.Itoa(n)+" more")
	}
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
		then, now = clipApart(then, now)
		a.Fields = append(a.Fields, alteration{field, then, now})
	}
}

// value compares two values, members apart where both are objects.
func (a *alterations) value(field string, then, now countersign.Value, depth int) {
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
	if depth > 0 && (one || then.IsZero()) && (two || now.IsZero()) {
		a.members(field, was, is, depth)
		return
	}
	if !then.IsScalar() && !now.IsScalar() && then.Equal(now) && !strings.Contains(now.Raw(), hiddenText) {
		a.Same = append(a.Same, nameless(field)) // keys in another order say the same
		return
	}
	a.text(nameless(field), then.Raw(), now.Raw())
}

func nameless(field string) string { return cmp.Or(field, "body") }

func (a *alterations) members(field string, was, is map[string]countersign.Value, depth int) {
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
		a.value(path, then, now, depth-1)
	}
}

// clipApart shortens two texts that differ so that where they differ is seen.
func clipApart(a, b string) (left, right string) {
	if len(a) <= changesWidth && len(b) <= changesWidth {
		return a, b
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	from := max(0, same-changesWidth/4)
	return clipFrom(a, from), clipFrom(b, from)
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
	if len(s)-from <= changesWidth {
		return before + s[from:]
	}
	end := from + changesWidth
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return before + s[from:end] + " …"
}
