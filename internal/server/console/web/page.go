package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Page is the data of the template of the same name. As an error, it is a form that was
// refused and is shown again.
type Page struct { //nolint:errname // a page first of all; few are errors
	Name   string // of the template
	Status int    // 0 is 200
	Title  string
	Nav    string // the current entry of the navigation
	Crumbs []Crumb
	Alone  bool // without navigation: sign-in and setup
	Desk   bool // a list beside what is decided, as wide as the window
	Data   any

	conflict bool // somebody else saved a newer revision, which the page shows
}

func (p *Page) Error() string { return "the form is shown again: " + p.Title }

// Crumb is one breadcrumb; the last one has no address.
type Crumb struct {
	Word, Href string
	ID         bool // in mono
}

// CrumbsBelow lead to what has an ID in a list, and to the pages below it.
func CrumbsBelow(list, href, id string, last ...Crumb) []Crumb {
	at := Crumb{Word: id, ID: true}
	if len(last) > 0 {
		at.Href = href + "/" + id
	}
	return append([]Crumb{{Word: list, Href: href}, at}, last...)
}

// banner is a notice above every page.
type banner struct{ Text, Href, Word string }

// Pages are the templates by name. Those of a room lie in the folder of its name, and the parts
// that pages share in its folder parts. Each is parsed when first shown, to save memory if
// nobody uses the console.
type Pages map[string]func() (*template.Template, error)

// ParsePages finds the templates; those of a page are parsed when it is first shown.
func ParsePages(templates fs.FS, functions template.FuncMap) (Pages, error) {
	base, err := template.New("layout").Funcs(functions).ParseFS(templates, "templates/layout.html", "templates/*/parts/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	files, err := fs.Glob(templates, "templates/*/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	out := Pages{}
	for _, file := range files {
		out[strings.TrimSuffix(path.Base(file), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			t, err := base.Clone()
			if err == nil {
				t, err = t.ParseFS(templates, file)
			}
			if err == nil {
				shownIn(t)
			}
			return t, err
		})
	}
	return out, nil
}

// Execute renders one block of a page's template.
func (p Pages) Execute(b *bytes.Buffer, name, block string, data any) error {
	parsed := p[name]
	if parsed == nil {
		return fmt.Errorf("there is no template %s", name)
	}
	t, err := parsed()
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	return t.ExecuteTemplate(b, block, data)
}

// show writes a whole page or an error, never a partial page.
func (r *Request) show(p *Page) {
	var b bytes.Buffer
	if err := r.render(&b, p, "layout"); err != nil {
		r.Config.Log.ErrorContext(r.R.Context(), "page not written", "page", p.Name, "error", err)
		http.Error(r.W, "Something broke on our side; request "+r.Actor.RequestID+" is in the log.", http.StatusInternalServerError)
		return
	}
	h := r.W.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	out := compressed(h, r.R, b.Bytes())
	h.Set("Content-Length", strconv.Itoa(len(out)))
	r.W.WriteHeader(max(p.Status, http.StatusOK))
	_, _ = r.W.Write(out) // the visitor may have disconnected
}

// render executes one block of a page's template: "layout" for the whole, or a
// part that a live page replaces.
func (r *Request) render(b *bytes.Buffer, p *Page, block string) error {
	return r.Pages.Execute(b, p.Name, block, r.frame(p))
}
