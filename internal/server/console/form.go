package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// form builds a form's fields, either with the stored values or with the submitted
// values and their errors.
type form struct {
	v     *web.Request
	err   error
	wrong map[string]string // by field; entries that no field takes remain
	taken int

	stored bool // shows what is stored: what was sent belongs to another form
	filled bool // shows the form's fields, which the page itself has filled
}

// field is one field of a form.
type field struct {
	Name, Label, Hint, Value, Wrong string

	Kind     string // "" a line, area, select, radio, check, boxes
	Mono     bool
	Required bool // browsers insist on it
	Needed   bool // it or another field: only the server can tell
	Rows     int
	Choices  []choice
	Offered  []choice // values that may be typed, and others too
}

// choice is one of a field's values.
type choice struct {
	Value, Word, Note string
	Chosen            bool
}

// formOf makes a form; within is where the fields stand in the document, such as
// capabilities[3], so that paths in API errors map to field names.
func formOf(v *web.Request, err error, within string) *form {
	s := &form{v: v, err: err, wrong: map[string]string{}}
	if !web.Fieldwise[countersign.ErrorCode(err)] {
		return s
	}
	for _, w := range web.FieldErrors(web.ProblemMessage(err)) {
		name := w.Field
		if within != "" {
			name = strings.TrimPrefix(name, within+".")
		}
		s.wrong[name] = strings.TrimPrefix(s.wrong[name]+"; "+w.Text, "; ")
	}
	return s
}

// again reports whether the form was submitted.
func (s *form) again() bool { return (s.filled || s.v.R.Method == http.MethodPost) && !s.stored }

// line is a one-line field; stored is its value before anything is typed.
func (s *form) line(name, label, hint, stored string) field {
	b := field{Name: name, Label: label, Hint: hint, Value: stored}
	if s.again() {
		b.Value = s.v.R.PostForm.Get(name)
	}
	if countersign.ErrorCode(s.err) == countersign.CodeRevisionConflict && strings.TrimSpace(b.Value) != stored {
		b.Hint = strings.TrimSpace(hint + " Saved now: " + cmp.Or(stored, "nothing") + ".")
	}
	b.Wrong = s.take(name)
	return b
}

// take returns and removes the errors of a field and of what it contains.
func (s *form) take(name string) string {
	var found []string
	for field, text := range s.wrong {
		switch {
		case field == name:
			found = append(found, text)
		case strings.HasPrefix(field, name+".") || strings.HasPrefix(field, name+"["):
			found = append(found, field+": "+text)
		default:
			continue
		}
		delete(s.wrong, field)
	}
	if len(found) == 0 {
		return ""
	}
	s.taken++
	slices.Sort(found)
	return text.Upper(strings.Join(found, "; ")) + "."
}

func (s *form) mono(name, label, hint, stored string) field {
	b := s.line(name, label, hint, stored)
	b.Mono = true
	return b
}

func (s *form) area(name, label, hint, stored string, rows int) field {
	b := s.line(name, label, hint, stored)
	b.Kind, b.Rows = "area", rows
	return b
}

func (s *form) document(name, label, hint, stored string, rows int) field {
	b := s.area(name, label, hint, stored, rows)
	b.Mono = true
	return b
}

// choose is a select or a list of radio buttons.
func (s *form) choose(kind, name, label, hint, stored string, choices ...choice) field {
	b := s.line(name, label, hint, stored)
	b.Kind, b.Choices = kind, choices
	for i := range b.Choices {
		b.Choices[i].Chosen = b.Choices[i].Value == b.Value
	}
	return b
}

func (s *form) check(name, label, hint string, stored bool) field {
	on := map[bool]string{true: "on"}
	b := s.line(name, label, hint, on[stored])
	b.Kind = "check"
	return b
}

// boxes are choices of which any number may be ticked.
func (s *form) boxes(name, label, hint string, stored []string, choices ...choice) field {
	b := s.line(name, label, hint, "")
	b.Kind, b.Choices = "boxes", slices.Clone(choices)
	if s.again() {
		stored = s.v.R.PostForm[name]
	}
	for i := range b.Choices {
		b.Choices[i].Chosen = slices.Contains(stored, b.Choices[i].Value)
	}
	return b
}

// coded shows the values of choices beside their words.
func coded(b field) field {
	b.Mono = true
	return b
}

// must marks a field as required.
func must(b field) field {
	b.Required = true
	return b
}

// problem is the error above the form. Call it after the fields are built: it leaves
// out what they show.
func (s *form) problem() *web.Problem {
	p := web.ProblemOf(s.err)
	if p == nil || s.taken == 0 {
		return p
	}
	var rest []string
	for field, text := range s.wrong {
		rest = append(rest, strings.TrimPrefix(field+": "+text, ": "))
	}
	slices.Sort(rest)
	p.Sentence, p.Detail = text.Plural(s.taken, "field needs", "fields need")+" attention.", ""
	if len(rest) > 0 {
		p.Detail = text.Upper(strings.Join(rest, "; ")) + "."
	}
	return p
}
