package drawn

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Comparison of a request with an earlier one, field by field. Values are compared as
// text, so that 89.90 and 89.9 differ. Nothing is left out: the requester must not be
// able to choose which changes an approver sees.

// clipWidth is how many bytes of a value a list shows.
const clipWidth = 160

// alteration is a field that differs. Then or Now is "" if the field is absent.
type alteration struct{ Field, Then, Now string }

// Alterations are the differences between two requests.
type Alterations struct {
	Fields []alteration
	Same   []string // names of the equal fields
	Hidden []string // masked fields, which can't be compared
	Bytes  []string // parts with equal values but different bytes, such as another key order

	taken []string // names of parts that a field of the body may have, too
}

// AlteredFrom compares a whole request with an earlier one: by the one description of what
// is sent, so that no member is left out.
func AlteredFrom(then, now countersign.Request) Alterations {
	var out Alterations
	before, after := request.Describe(then), request.Describe(now)
	was, asked, _ := strings.Cut(before.URL, "?")
	is, asks, _ := strings.Cut(after.URL, "?")
	out.text("destination", before.Method+" "+was, after.Method+" "+is)
	out.others(before.Others, after.Others)
	out.part("query", before.Query, after.Query, asked == asks)
	out.part("", before.Body, after.Body, before.Body.Raw() == after.Body.Raw())
	slices.SortStableFunc(out.Fields, func(a, b alteration) int { return cmp.Compare(a.Field, b.Field) })
	return out
}

// others compares what a request has besides destination, query and body, such as headers.
func (a *Alterations) others(then, now []request.Member) {
	var names []string
	for _, m := range slices.Concat(now, then) {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	a.taken = names
	for _, name := range names {
		was, is := memberNamed(then, name), memberNamed(now, name)
		a.part(name, was, is, was.Raw() == is.Raw())
	}
	a.Same, a.Hidden = append(a.Same, a.Hidden...), nil // a header's secret is shown to nobody
}

func memberNamed(all []request.Member, name string) countersign.Value {
	if i := slices.IndexFunc(all, func(m request.Member) bool { return m.Name == name }); i >= 0 {
		return all[i].Value
	}
	return countersign.Value{}
}

// part compares the query, the body or another part. A difference in bytes alone is
// reported too, since the bytes are what is sent.
func (a *Alterations) part(field string, then, now countersign.Value, sameBytes bool) {
	listed := len(a.Fields)
	a.value(field, then, now)
	if !sameBytes && len(a.Fields) == listed {
		a.Bytes = append(a.Bytes, nameless(field))
	}
}

// Functions are the functions of the templates of what is drawn.
var Functions = template.FuncMap{"apart": highlighted}

// HiddenText replaces a value that a VIEWER may not see.
const HiddenText = "•••"

// text compares two texts. A text that merely contains hiddenText can't hide a change.
func (a *Alterations) text(field, then, now string) {
	switch {
	case then != now:
		a.Fields = append(a.Fields, alteration{field, then, now})
	case strings.Contains(now, HiddenText):
		a.Hidden = append(a.Hidden, field)
	default:
		a.Same = append(a.Same, field)
	}
}

// value compares two values, and their members if both are objects. An object that was
// added or removed is one change, even if it is empty.
func (a *Alterations) value(field string, then, now countersign.Value) {
	was, one := then.Object()
	is, two := now.Object()
	switch {
	case then.IsZero() && now.IsZero():
	case one && two && len(was)+len(is) > 0:
		a.Members(field, was, is)
	case alike(then, now):
		a.text(nameless(field), now.Raw(), now.Raw())
	default:
		a.text(nameless(field), then.Raw(), now.Raw())
	}
}

// alike reports values that differ at most in key order. Numbers with other digits
// aren't alike: other digits are sent.
func alike(a, b countersign.Value) bool {
	if a.Raw() == b.Raw() {
		return true
	}
	switch a.Kind() {
	case countersign.KindArray:
		x, _ := a.Array()
		y, isArray := b.Array()
		return isArray && slices.EqualFunc(x, y, alike)
	case countersign.KindObject:
		x, _ := a.Object()
		y, isObject := b.Object()
		return isObject && maps.EqualFunc(x, y, alike)
	}
	return false
}

func nameless(field string) string { return cmp.Or(field, "body") }

// Members compares the members of two objects.
func (a *Alterations) Members(field string, was, is map[string]countersign.Value) {
	names := slices.Collect(maps.Keys(was))
	for name := range is {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a.value(a.fieldPath(field, name), was[name], is[name])
	}
}

// fieldPath gives a member an unambiguous name: it quotes a name that isn't a plain
// word or that is the name of a part of the request.
func (a *Alterations) fieldPath(within, name string) string {
	other := func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	isPart := within == "" && (name == "destination" || name == "query" || name == "body" || slices.Contains(a.taken, name))
	if name == "" || isPart || strings.ContainsFunc(name, other) {
		name = countersign.String(name).Raw()
	}
	if within == "" {
		return name
	}
	return within + "." + name
}

// sameAround is the length from which a value's differing part is marked.
const sameAround = 48

// highlighted is a value beside another that it differs from: all of it, and in a long one
// what differs stands out.
func highlighted(this, other string) template.HTML {
	if this == "" {
		return "absent"
	}
	from, to := 0, len(this)
	if other != "" && len(this) > sameAround {
		from, to = differs(this, other)
	}
	out := template.HTMLEscapeString(safetext.JSON(this[:from]))
	if from > 0 || to < len(this) {
		out += `<mark>` + template.HTMLEscapeString(safetext.JSON(this[from:to])) + `</mark>` + template.HTMLEscapeString(safetext.JSON(this[to:]))
	} else {
		out = template.HTMLEscapeString(safetext.JSON(this))
	}
	return template.HTML(`<bdi>` + out + `</bdi>` + text.DoubtMark(safetext.DoubtJSON(this))) //nolint:gosec // escaped
}

// differs returns the range of this that differs from other, at character boundaries.
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

// Clip bounds a text, cutting at a character boundary.
func Clip(s string) string {
	if len(s) <= clipWidth {
		return s
	}
	end := clipWidth
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + " …"
}
