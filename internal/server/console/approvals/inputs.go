package approvals

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The inputs that a request was made of, each with where it comes from. Whoever may decide
// corrects one where it stands: what differs is sent along with a rejection, and nothing else.

// Input is one input of the request.
type Input struct {
	Name    string
	Value   string // as people read it
	Doubt   string // why it may be misread, "" for nothing
	From    string
	Checked bool // it comes from an answer that was judged
	Moved   bool // not as in the last approved request

	Field   string // the name of its field in the form, "" where it can't be corrected in place
	Typed   string // what stands in the field
	Was     string // what stood there first
	Rows    int
	Problem string
}

// Bounds of the table: so many fields, and so long a value in one.
const (
	mostInputs   = 60
	longestTyped = 2000
)

// field is the name of an input's field. Script and server know a correction by it.
func field(name string) string { return "input." + name }

// Inputs are the inputs in the order of their names; MoreInputs are not in the table.
func (d *Data) Inputs() (out []Input) {
	names := slices.Sorted(maps.Keys(d.InputSnapshot))
	for _, name := range names[:min(len(names), mostInputs)] {
		out = append(out, d.input(name, d.InputSnapshot[name]))
	}
	return out
}

// MoreInputs is how many inputs the table leaves to the exact bytes.
func (d *Data) MoreInputs() int { return max(0, len(d.InputSnapshot)-mostInputs) }

func (d *Data) input(name string, v countersign.Value) Input {
	in := Input{Name: name, Value: drawn.Clip(text.Inline(v))}
	if v.Kind() == countersign.KindString {
		in.Value, in.Doubt = drawn.Clip(v.Text()), safetext.Doubt(v.Text())
	}
	in.From, in.Checked, in.Moved = d.source(name, v)
	typed, ok := typedForm(v)
	if ok && d.Corrects() {
		in.Field, in.Typed, in.Was = field(name), typed, typed
		if given, is := d.Corrected[name]; is {
			in.Typed = given
		}
		in.Problem = d.Errors[in.Field]
		in.Rows = 1 + min(5, strings.Count(in.Typed, "\n"))
	}
	return in
}

// Corrects reports a page on which inputs can be corrected.
func (d *Data) Corrects() bool { return d.Waiting && d.Refused == nil && d.Sent.Part.Last() }

// typedForm is a value as it stands in a field: a text as it is, unless it has what a field would
// hide or turn; anything else as it is spelt.
func typedForm(v countersign.Value) (string, bool) {
	raw := v.Raw()
	switch v.Kind() {
	case countersign.KindString:
		raw = v.Text()
		if safetext.EscapedLines(raw) != raw || safetext.Doubt(raw) != "" || strings.Contains(raw, "\r") {
			return "", false
		}
	case countersign.KindNumber, countersign.KindBoolean:
	default:
		return "", false
	}
	return raw, len(raw) <= longestTyped && !strings.Contains(raw, drawn.HiddenText)
}

// source says where an input comes from.
func (d *Data) source(name string, v countersign.Value) (from string, checked, moved bool) {
	for _, s := range d.Sources {
		if s.Input == name {
			return s.Field + " of step " + s.StepID + map[bool]string{true: ", verified", false: ", not verified"}[s.Verified], s.Verified, false
		}
	}
	from = "given by " + cmp.Or(d.RequestedByName, text.Who(d.RequestedBy))
	if d.Before == nil {
		return from, false, false
	}
	switch before, had := d.Before.InputSnapshot[name]; {
	case !had:
		return from + "; new: the last approved had none", false, true
	case before.Equal(v):
		return from + "; as in the last approved", false, false
	case strings.Contains(before.Raw(), drawn.HiddenText):
		return from, false, false
	default:
		return from + "; the last approved had " + drawn.Clip(text.Inline(before)), false, true
	}
}

// correction is what was typed over the inputs.
type correction struct {
	typed map[string]string // by input
	names []string          // that differ
	all   map[string]countersign.Value
	wrong map[string]string // by field
}

// correctionOf reads the table of the form. Only what differs is a correction.
func correctionOf(v *web.Request, d *Data) (c correction) {
	c = correction{typed: map[string]string{}, all: maps.Clone(d.InputSnapshot), wrong: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(d.InputSnapshot)) {
		was, ok := typedForm(d.InputSnapshot[name])
		if !ok || !v.R.PostForm.Has(field(name)) {
			continue
		}
		typed := strings.ReplaceAll(v.R.PostForm.Get(field(name)), "\r\n", "\n") // as a browser sends an area
		if typed == was {
			continue
		}
		c.typed[name], c.names = typed, append(c.names, name)
		value, problem := corrected(d.InputSnapshot[name].Kind(), typed)
		if problem != "" {
			c.wrong[field(name)] = problem
		}
		c.all[name] = value
	}
	return c
}

func corrected(kind countersign.Kind, typed string) (v countersign.Value, problem string) {
	if kind == countersign.KindString {
		return countersign.String(typed), ""
	}
	if err := exactjson.Decode([]byte(strings.TrimSpace(typed)), &v); err != nil || v.Kind() != kind {
		return v, map[countersign.Kind]string{countersign.KindNumber: "Write a number, such as 249.00.", countersign.KindBoolean: "Write true or false."}[kind]
	}
	return v, ""
}
