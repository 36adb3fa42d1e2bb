package text

import (
	"html/template"
	"strings"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// shortened is how many characters of an id a list shows.
const shortened = 6

// person is a principal in a list: by name, where there is one, with the id on hover. That it is
// a token or an agent stands beside the name, since a name may be any text.
func person(principal, name string) template.HTML {
	kind, id, of := strings.Cut(principal, ":")
	switch {
	case !of || kind == "user":
		return shownHTML(Who(principal))
	case name == "":
		return template.HTML(template.HTMLEscapeString(kind)+" ") + short(id) //nolint:gosec // escaped
	}
	return template.HTML(`<span title="`+template.HTMLEscapeString(safetext.Value(principal))+`">`) + shownHTML(name) + template.HTML(` <span class="dim">`+template.HTMLEscapeString(kind)+`</span></span>`) //nolint:gosec // every part is escaped
}

// short is the end of an id for whoever looks. What is copied, heard or hovered over is all of it.
func short(id string) template.HTML {
	cut := max(0, len(id)-shortened)
	return template.HTML(`<span class="id nb short" title="` + template.HTMLEscapeString(safetext.Value(id)) + `"><span class="vh">` + template.HTMLEscapeString(safetext.Escaped(id[:cut])) + `</span>` + template.HTMLEscapeString(safetext.Escaped(id[cut:])) + `</span>`) //nolint:gosec // every part is escaped
}

func shownHTML(value string) template.HTML {
	if out, is := shown(value).(template.HTML); is {
		return out
	}
	return template.HTML(template.HTMLEscapeString(safetext.Escaped(value))) //nolint:gosec // escaped
}
