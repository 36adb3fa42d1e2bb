package console

import (
	"bytes"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

//go:embed templates
var templateFiles embed.FS

// page is what a template of the same name shows. A page is also an error: that
// of a form which could not be taken and is shown again with what was typed.
type page struct {
	name   string // of the template
	status int    // 0 is 200
	Title  string
	Nav    string // which entry of the navigation is the present one
	Crumbs []crumb
	Alone  bool // without navigation: sign-in and set-up
	Data   any
}

func (p *page) Error() string { return "the form is shown again: " + p.Title }

// crumb is one step of the way to a page; the last one has no address.
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

// frame is a page and what is around it.
type frame struct {
	*page
	*pageRequest
	Actor   control.Actor
	CSRF    string
	Theme   string
	Keys    bool // letters are shortcuts
	Counts  counts
	Banners []banner
}

// counts are the figures beside the navigation.
type counts struct{ Approvals, Recovery, Active int }

// banner is a line above every page, of something that somebody should know.
type banner struct{ Text, Href, Word string }

// pages are the templates by name, each parsed when it is first shown: a service
// that nobody looks at spares their memory.
type pages map[string]func() (*template.Template, error)

func parsePages() (pages, error) {
	base, err := template.New("layout").Funcs(functions).ParseFS(templateFiles, "templates/*.html", "templates/parts/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	files, err := fs.Glob(templateFiles, "templates/pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	out := pages{}
	for _, file := range files {
		out[strings.TrimSuffix(path.Base(file), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			t, err := base.Clone()
			if err == nil {
				t, err = t.ParseFS(templateFiles, file)
			}
			if err == nil {
				shownIn(t)
			}
			return t, err
		})
	}
	return out, nil
}

// execute executes a block of a page's template.
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

// show writes a page whole or not at all.
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
	_, _ = v.w.Write(out) // a visitor who has gone reads nothing
}

// render executes one block of a page's template: "layout" for the whole, or a
// part that a live page replaces.
func (v *pageRequest) render(b *bytes.Buffer, p *page, block string) error {
	return v.pages.execute(b, p.name, block, v.frame(p))
}

func (v *pageRequest) frame(p *page) frame {
	f := frame{page: p, pageRequest: v, Actor: v.actor, Theme: v.theme(), Keys: v.keys()}
	if v.signedIn() {
		var random [32]byte
		_, _ = rand.Read(random[:]) // never fails: it ends the process instead
		f.CSRF = access.MaskCSRF(access.CSRFToken(v.secret), random)
		if !p.Alone {
			f.Counts, f.Banners = v.counts(), v.banners()
		}
	}
	return f
}

// counts are left at zero where they can't be read: the page itself says why.
func (v *pageRequest) counts() counts {
	one := control.List{Limit: 1}
	ctx := v.r.Context()
	var c counts
	if p, err := v.control.Approvals(ctx, v.actor, one, control.ApprovalFilter{Status: string(countersign.ApprovalPending)}); err == nil {
		c.Approvals = p.Total
	}
	for status, into := range map[countersign.RunStatus]*int{
		countersign.RunRecoveryRequired: &c.Recovery, countersign.RunRunning: &c.Active,
	} {
		if p, err := v.control.Runs(ctx, v.actor, one, control.RunFilter{Status: string(status)}); err == nil {
			*into = p.Total
		}
	}
	return c
}

// Can reports whether the visitor may ask for an operation, so that a page shows
// the buttons of those who may press them. The use case decides.
func (f frame) Can(op string) bool { return f.can(access.Operation(op)) }

// Roles are the visitor's roles in words.
func (f frame) Roles() string { return roleWords(f.Actor.Roles) }
