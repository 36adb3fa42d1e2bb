package console

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

// page is the data of the template of the same name. As an error, it is a form that was
// refused and is shown again.
type page struct {
	name   string // of the template
	status int    // 0 is 200
	Title  string
	Nav    string // the current entry of the navigation
	Crumbs []crumb
	Alone  bool // without navigation: sign-in and setup
	Data   any

	conflict bool // somebody else saved a newer revision, which the page shows
}

func (p *page) Error() string { return "the form is shown again: " + p.Title }

// crumb is one breadcrumb; the last one has no address.
type crumb struct {
	Word, Href string
	ID         bool // in mono
}

// crumbsBelow lead to what has an ID in a list, and to the pages below it.
func crumbsBelow(list, href, id string, last ...crumb) []crumb {
	at := crumb{Word: id, ID: true}
	if len(last) > 0 {
		at.Href = href + "/" + id
	}
	return append([]crumb{{Word: list, Href: href}, at}, last...)
}

// banner is a notice above every page.
type banner struct{ Text, Href, Word string }

// pages are the templates by name. Those of a room lie in the folder of its name, and the parts
// that pages share in its folder parts. Each is parsed when first shown, to save memory if
// nobody uses the console.
type pages map[string]func() (*template.Template, error)

func parsePages(templates fs.FS, functions template.FuncMap) (pages, error) {
	base, err := template.New("layout").Funcs(functions).ParseFS(templates, "templates/layout.html", "templates/*/parts/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	files, err := fs.Glob(templates, "templates/*/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	out := pages{}
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

func (p pages) execute(b *bytes.Buffer, name, block string, data any) error {
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
func (v *pageRequest) show(p *page) {
	var b bytes.Buffer
	if err := v.render(&b, p, "layout"); err != nil {
		v.cfg.Log.ErrorContext(v.r.Context(), "page not written", "page", p.name, "error", err)
		http.Error(v.w, "Something broke on our side; request "+v.actor.RequestID+" is in the log.", http.StatusInternalServerError)
		return
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	out := compressed(h, v.r, b.Bytes())
	h.Set("Content-Length", strconv.Itoa(len(out)))
	v.w.WriteHeader(max(p.status, http.StatusOK))
	_, _ = v.w.Write(out) // the visitor may have disconnected
}

// render executes one block of a page's template: "layout" for the whole, or a
// part that a live page replaces.
func (v *pageRequest) render(b *bytes.Buffer, p *page, block string) error {
	return v.pages.execute(b, p.name, block, v.frame(p))
}
