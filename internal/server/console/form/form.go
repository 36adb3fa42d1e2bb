package form

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Form builds a form's fields, either with the stored values or with the submitted
// values and their errors.
type Form struct {
	Request *web.Request
	Err     error
	Wrong   map[string]string // by field; entries that no field takes remain
	taken   int

	Stored bool // shows what is stored: what was sent belongs to another form
	Filled bool // shows the form's fields, which the page itself has filled
}

// Field is one field of a form.
type Field struct {
	Name, Label, Hint, Value, Wrong string

	Kind     string // "" a line, area, select, radio, check, boxes
	Mono     bool
	Required bool // browsers insist on it
	Needed   bool // it or another field: only the server can tell
	Rows     int
	Choices  []Choice
	Offered  []Choice // values that may be typed, and others too
}

// Choice is one of a field's values.
type Choice struct {
	Value, Word, Note string
	Chosen            bool
}

// Of makes a form; within is where the fields stand in the document, such as
// capabilities[3], so that paths in API errors map to field names.
func Of(v *web.Request, err error, within string) *Form {
	s := &Form{Request: v, Err: err, Wrong: map[string]string{}}
	if !web.Fieldwise[countersign.ErrorCode(err)] {
		return s
	}
	for _, w := range web.FieldErrors(web.ProblemMessage(err)) {
		name := w.Field
		if within != "" {
			name = strings.TrimPrefix(name, within+".")
		}
		s.Wrong[name] = strings.TrimPrefix(s.Wrong[name]+"; "+w.Text, "; ")
	}
	return s
}

// Again reports whether the form was submitted.
func (f *Form) Again() bool { return (f.Filled || f.Request.R.Method == http.MethodPost) && !f.Stored }

// Line is a one-line field; stored is its value before anything is typed.
func (f *Form) Line(name, label, hint, stored string) Field {
	b := Field{Name: name, Label: label, Hint: hint, Value: stored}
	if f.Again() {
		b.Value = f.Request.R.PostForm.Get(name)
	}
	if countersign.ErrorCode(f.Err) == countersign.CodeRevisionConflict && strings.TrimSpace(b.Value) != stored {
		b.Hint = strings.TrimSpace(hint + " Saved now: " + cmp.Or(stored, "nothing") + ".")
	}
	b.Wrong = f.Take(name)
	return b
}

// Take returns and removes the errors of a field and of what it contains.
func (f *Form) Take(name string) string {
	var found []string
	for field, text := range f.Wrong {
		switch {
		case field == name:
			found = append(found, text)
		case strings.HasPrefix(field, name+".") || strings.HasPrefix(field, name+"["):
			found = append(found, field+": "+text)
		default:
			continue
		}
		delete(f.Wrong, field)
	}
	if len(found) == 0 {
		return ""
	}
	f.taken++
	slices.Sort(found)
	return text.Upper(strings.Join(found, "; ")) + "."
}

// Mono is a line of what machines read.
func (f *Form) Mono(name, label, hint, stored string) Field {
	b := f.Line(name, label, hint, stored)
	b.Mono = true
	return b
}

// Area is a field of several lines.
func (f *Form) Area(name, label, hint, stored string, rows int) Field {
	b := f.Line(name, label, hint, stored)
	b.Kind, b.Rows = "area", rows
	return b
}

// Document is a field of several lines of what machines read.
func (f *Form) Document(name, label, hint, stored string, rows int) Field {
	b := f.Area(name, label, hint, stored, rows)
	b.Mono = true
	return b
}

// Choose is a select or a list of radio buttons.
func (f *Form) Choose(kind, name, label, hint, stored string, choices ...Choice) Field {
	b := f.Line(name, label, hint, stored)
	b.Kind, b.Choices = kind, choices
	for i := range b.Choices {
		b.Choices[i].Chosen = b.Choices[i].Value == b.Value
	}
	return b
}

// Check is a box to tick.
func (f *Form) Check(name, label, hint string, stored bool) Field {
	on := map[bool]string{true: "on"}
	b := f.Line(name, label, hint, on[stored])
	b.Kind = "check"
	return b
}

// Boxes are choices of which any number may be ticked.
func (f *Form) Boxes(name, label, hint string, stored []string, choices ...Choice) Field {
	b := f.Line(name, label, hint, "")
	b.Kind, b.Choices = "boxes", slices.Clone(choices)
	if f.Again() {
		stored = f.Request.R.PostForm[name]
	}
	for i := range b.Choices {
		b.Choices[i].Chosen = slices.Contains(stored, b.Choices[i].Value)
	}
	return b
}

// Coded shows the values of choices beside their words.
func Coded(b Field) Field {
	b.Mono = true
	return b
}

// Must marks a field as required.
func Must(b Field) Field {
	b.Required = true
	return b
}

// Problem is the error above the form. Call it after the fields are built: it leaves
// out what they show.
func (f *Form) Problem() *web.Problem {
	p := web.ProblemOf(f.Err)
	if p == nil || f.taken == 0 {
		return p
	}
	var rest []string
	for field, text := range f.Wrong {
		rest = append(rest, strings.TrimPrefix(field+": "+text, ": "))
	}
	slices.Sort(rest)
	p.Sentence, p.Detail = text.Plural(f.taken, "field needs", "fields need")+" attention.", ""
	if len(rest) > 0 {
		p.Detail = text.Upper(strings.Join(rest, "; ")) + "."
	}
	return p
}
