package browser

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/test/harness"
)

// axe is axe-core, which checks accessibility rules: it must find nothing on any page.
//
//go:embed testdata/axe.min.js
var axe string

// judgedBy: with -short axe-core checks one of so many pages, beginning at a random one.
const judgedBy = 3

var drawn = rand.IntN(judgedBy)

// largest bounds the size of a page with everything that it loads except pictures.
const largest = 150_000

// views are the window widths and color schemes in which pages are checked.
var views = []struct {
	name          string
	width, height int64
	dark          bool
}{{"desktop-light", 1280, 900, false}, {"phone-dark", 390, 844, true}, {"desktop-dark", 1280, 900, true}, {"phone-light", 390, 844, false}}

// between are window widths between a phone's and a desktop's, around those at which the layout changes: pages
// are checked for their width alone there.
var between = []int64{768, 979, 980, 1000, 1179, 1180}

// pages are the console's pages, by name; stage adds the pages of single records.
var pages = map[string]string{
	"overview": "/", "runs": "/runs", "failed runs": "/runs?status=FAILED", "approvals": "/approvals", "recovery": "/recovery", "plans": "/plans",
	"new plan": "/plans/new", "models": "/models", "model": "/models/refund-agent", "model player": "/models/refund-agent?scenario=small&at=1", "new model": "/models/new",
	"edit model": "/models/refund-agent/edit", "projects": "/projects", "project": "/projects/default-shop", "new project": "/projects/new",
	"agents": "/agents", "teams": "/teams", "audit": "/audit", "audit verified": "/audit/verify", "users": "/access", "new user": "/access/users/new", "a user": "/access/users/mara@default.example",
	"tokens": "/access/tokens", "new token": "/access/tokens/new",
	"settings": "/settings", "more": "/more", "search": "/search?q=refund-agent", "nothing here": "/nothing", "not allowed": "/access/tenants",
}

// realmPages are those of realm administrators.
var realmPages = map[string]string{"tenants": "/access/tenants", "new tenant": "/access/tenants/new", "realm audit": "/audit?log=realm"}

// realmAdministrator is the user whom the fixture's setting makes one.
const realmAdministrator = "rita@default.example"

// TestPagesAreSoundForEverybody checks every page of the console and of the manual.
func TestPagesAreSoundForEverybody(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t, harness.Set("ADMIN_EMAIL", realmAdministrator))
	t.Run("Manual", h.manualIsSound)
	t.Run("Console", h.consoleIsSound)
}

func (f *fixture) consoleIsSound(t *testing.T) {
	t.Helper()
	s := f.furnish(t, "default", f.Admin)
	s.fill()
	p := newTab(t, f.Server)
	p.signIn(s.mail("ada"))
	s.admin.Put("/users/"+s.mail("ada"), doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
	p.look("running run", s.startHanging())
	all := map[string]string{}
	for name, path := range pages {
		all[name] = path
	}
	for name, path := range s.paths {
		all[name] = path
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.look(name, all[name])
	}
	realm := newTab(t, f.Server)
	realm.signIn(realmAdministrator)
	for _, name := range slices.Sorted(maps.Keys(realmPages)) {
		realm.look(name, realmPages[name])
	}
	signedOut := newTab(t, s.Server)
	signedOut.look("sign in", "/sign-in")
	signedOut.look("code", "/sign-in/code?email="+s.mail("ada"))
}

// look opens a page of the console and checks it.
func (p *tab) look(name, path string) {
	p.t.Helper()
	p.lookAt(name, "/console"+path)
}

// lookAt checks a page in all views; with -short in one of them, in turn, so that different pages are checked in
// different views.
func (p *tab) lookAt(name, path string) {
	p.t.Helper()
	seen := views
	if testing.Short() && !*everyView {
		seen = views[p.looked%len(views):][:1]
	}
	p.looked++
	for _, v := range seen {
		theme := map[bool]string{false: "light", true: "dark"}[v.dark]
		p.do(chromedp.EmulateViewport(v.width, v.height))
		p.prefers(theme)
		p.visit(path)
		if !js[bool](p, `document.documentElement.dataset.theme === "`+theme+`"`) {
			p.t.Errorf("%s, %s: it is not %s", name, v.name, theme)
		}
		p.judge(name, v.name)
		if *screens != "" {
			p.picture(name, v.name)
		}
	}
	p.fitsBetween(name)
}

// fitsBetween checks that the page that is open fits windows of the widths between.
func (p *tab) fitsBetween(name string) {
	p.t.Helper()
	for _, width := range between {
		p.do(chromedp.EmulateViewport(width, 800))
		p.fits(name, fmt.Sprintf("%d px", width))
		if *screens != "" && width == 1000 {
			p.picture(name, "between")
		}
	}
}

// fits checks that the page that is open is not wider than its window.
func (p *tab) fits(name, view string) {
	p.t.Helper()
	if js[bool](p, `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
		p.t.Errorf("%s, %s: is %d px wider than its window: %s", name, view, js[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`), js[string](p, `Array.from(document.querySelectorAll("main *")).filter(function (e) { return e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".graph, .json, .filters, pre, svg") }).slice(0, 3).map(function (e) { return e.outerHTML.slice(0, 120) }).join(" | ")`))
	}
}

// prefers sets the cookie of a person who chose this theme. A script on the page couldn't: its cookie may be
// stored only after the next page's request.
func (p *tab) prefers(theme string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	cookie := network.SetCookieParams{Name: "countersign-theme", Value: theme, URL: p.server.URL, Path: "/"}
	if _, err := chromedp.Call(ctx, network.SetCookie, cookie); err != nil {
		p.t.Fatal(err)
	}
}

// judge checks that a page exists, fits its width and is small, and that axe-core finds nothing on it. With
// -short axe-core, which takes most of the time, checks every third page, beginning at a random one.
func (p *tab) judge(name, view string) {
	p.t.Helper()
	if title := js[string](p, `document.title`); title == "" || (name == "nothing here") != strings.HasPrefix(title, "Page not found") || (name == "not allowed") != strings.HasPrefix(title, "Not allowed") {
		p.t.Errorf("%s: its title is %q", name, title)
	}
	if weight := js[int](p, `performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).filter(function (e) { return e.initiatorType !== "img" }).reduce(function (n, e) { return n + e.encodedBodySize }, 0)`); weight > largest {
		p.t.Errorf("%s, %s: weighs %d bytes", name, view, weight)
	}
	p.fits(name, view)
	if testing.Short() && !*everyView && p.looked%judgedBy != drawn {
		return
	}
	js[bool](p, axe+`; true`)
	found := js[[]string](p, `axe.run({resultTypes: ["violations"]}).then(function (r) { return r.violations.map(function (v) { return v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(function (n) { return n.html.slice(0, 160) + " " + (n.any.concat(n.all, n.none)[0] || {}).message }).join(" | ") }) })`)
	for _, violation := range found {
		p.t.Errorf("%s, %s: %s", name, view, violation)
	}
}

// tallest is the height in pixels up to which the browser makes a screenshot of a whole page.
const tallest = 8000

// picture stores a screenshot of the page.
func (p *tab) picture(name, view string) {
	p.t.Helper()
	shot := chromedp.FullScreenshot(100)
	if js[int](p, `document.documentElement.scrollHeight`) > tallest {
		shot = chromedp.CaptureScreenshot()
	}
	image, err := chromedp.Run(p.ctx, shot)
	if err == nil {
		err = os.MkdirAll(*screens, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*screens, strings.ReplaceAll(name, " ", "-")+"-"+view+".png"), image, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
