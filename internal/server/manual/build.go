package manual

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/yuin/goldmark"
)

//go:embed assets templates
var own embed.FS

const htmlKind = "text/html; charset=utf-8"

type builder struct {
	cfg       Config
	md        goldmark.Markdown
	templates map[string]*template.Template
	nav       []section
	site      site
	pages     map[string]document // by file

	parts      []part // what a search finds
	operations []part // of the API
}

// built is what the service answers with.
type built struct {
	site
	nav    []section
	parts  []part // what a search finds
	search *template.Template
}

func build(cfg Config) (*built, error) {
	b := &builder{cfg: cfg, md: newMarkdown(), site: site{}, pages: map[string]document{}}
	var err error
	if b.templates, err = parseTemplates(cfg); err != nil {
		return nil, err
	}
	for _, step := range []func() error{b.read, b.write, b.reference, b.index, b.ownFiles, b.nothing} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	b.site[Programs] = file("text/plain; charset=utf-8", b.programs())
	return &built{site: b.site, nav: b.nav, parts: b.parts, search: b.templates["search"]}, nil
}

// parseTemplates reads the frame once for each kind of page.
func parseTemplates(cfg Config) (map[string]*template.Template, error) {
	base, err := template.New("").Funcs(template.FuncMap{"asset": cfg.Asset, "typeAt": typeAddress, "odd": func(i int) bool { return i%2 == 1 }}).ParseFS(own, "templates/layout.html", "templates/fields.html")
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, name := range []string{"markdown", "nothing", "search", "api", "operations", "types"} {
		t, err := base.Clone()
		if err == nil {
			t, err = t.ParseFS(own, "templates/"+name+".html")
		}
		if err != nil {
			return nil, err
		}
		all[name] = t
	}
	return all, nil
}

// read reads every file: pages to render, other files to serve as they are.
func (b *builder) read() error {
	return fs.WalkDir(b.cfg.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(b.cfg.Files, name)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(name, ".md") {
			b.site[Prefix+"/"+name] = file(kindOf(name), body)
			return nil
		}
		b.site[Prefix+"/"+name] = file("text/markdown; charset=utf-8", body)
		b.pages[name] = parse(b.md, name, body)
		return nil
	})
}

// kindOf is the media type of a file. A program is a text: some machines take .ts for a video.
func kindOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".go", ".ts":
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(ext)
	}
}

// listedFrom is from how many sections on a page lists them.
const listedFrom = 4

// write renders the pages, after the index page has been read for the navigation.
func (b *builder) write() error {
	index, there := b.pages[b.cfg.Index]
	if !there {
		return fmt.Errorf("there is no page %s", b.cfg.Index)
	}
	b.nav = navigation(index)
	for name, d := range b.pages {
		if err := d.render(b.md, func(to string) string { return target(name, to) }); err != nil {
			return err
		}
		b.pages[name] = d
		data := page{Title: d.title, Source: Prefix + "/" + name, Body: template.HTML(d.body)} // goldmark escaped it
		if len(d.parts) >= listedFrom {
			data.Parts = d.parts
		}
		if err := b.put(address(name), "markdown", http.StatusOK, data); err != nil {
			return err
		}
	}
	return nil
}

// ownFiles are the manual's style sheet.
func (b *builder) ownFiles() error {
	sheet, err := fs.ReadFile(own, "assets/manual.css")
	b.site[Prefix+"/assets/manual.css"] = file("text/css; charset=utf-8", sheet)
	return err
}

// nothing is the not-found page.
func (b *builder) nothing() error {
	return b.put(missing, "nothing", http.StatusNotFound, page{Title: "Page not found"})
}

// page is what the templates show.
type page struct {
	Title, Here string
	Source      string         // address of the Markdown
	Parts       []contentsLine // its sections, where there are many
	Body        template.HTML
	Nav         []section
	Data        any
}

// plainHead is how a page begins that leaves the theme to the system.
const plainHead = `<html lang="en">`

func themedHead(theme string) []byte { return []byte(`<html lang="en" data-theme="` + theme + `">`) }

// put renders a page in each theme.
func (b *builder) put(at, name string, status int, p page) error {
	c := &content{status: status, kind: htmlKind, themed: true, forms: map[string]form{}}
	p.Here, p.Nav = at, around(b.nav, at)
	var out bytes.Buffer
	if err := b.templates[name].ExecuteTemplate(&out, "layout", p); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	c.forms[""] = newForm(out.Bytes(), true)
	for _, theme := range []string{"light", "dark"} {
		c.forms[theme] = newForm(bytes.Replace(out.Bytes(), []byte(plainHead), themedHead(theme), 1), true)
	}
	b.site[at] = c
	return nil
}
