package browser

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/test/harness"
)

// chrome is the one browser process of the tests: every person has a separate browser context with separate
// cookies.
var chrome struct {
	sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// programs are the possible names of the browser. The headless shell needs half of the processor time.
var programs = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// started starts the browser and reports whether there is one. Without a browser `make test` says that these
// tests were not run.
func started(t *testing.T) bool {
	t.Helper()
	chrome.Do(func() {
		for _, name := range programs {
			if path, err := exec.LookPath(name); err == nil {
				chrome.ctx, chrome.stop, chrome.err = launch(path)
				return
			}
		}
	})
	if chrome.err != nil {
		t.Fatal(chrome.err)
	}
	return chrome.ctx != nil
}

// launch starts the browser without a display, and without background network requests.
func launch(path string) (context.Context, func(), error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("force-prefers-reduced-motion", true), // animations would be repainted all the time
	)
	parent, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(parent)
	err := chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	return ctx, cancel, err
}

// patience bounds every wait; only a failing test waits that long.
const patience = 5 * time.Minute

// tab is one person's tab. Errors in it fail the test.
type tab struct {
	t      *testing.T
	server *harness.Server
	ctx    context.Context

	looked int // number of checked pages
	clicks int // presses of links, buttons, boxes and values of lists

	mu     sync.Mutex
	faults []string
}

// newTab opens a tab with no cookies.
func newTab(t *testing.T, s *harness.Server) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chrome.ctx, chromedp.WithNewBrowserContext())
	p := &tab{t: t, server: s, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		for _, fault := range p.faults {
			t.Errorf("the page's console says: %s", fault)
		}
	})
	// The tab is closed with the context of its first action, so that context has no timeout.
	if err := errors.Join(chromedp.Do(ctx, chromedp.Navigate("about:blank")), chromedp.Listen(ctx, p.listen)); err != nil {
		t.Fatal(err)
	}
	return p
}

// listen collects errors of scripts and violations of the content security policy. An HTTP error status is no
// fault: stories cause some.
func (p *tab) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" && e.Entry.Source != "network" {
			text = e.Entry.Text
		}
	case *page.EventJavascriptDialogOpening: // a form that was edited; a story that leaves it means to
		go func() {
			_, _ = chromedp.Call(p.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
	}
	if text != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.faults = append(p.faults, text)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v", err)
	}
}

// open opens a page of the console.
func (p *tab) open(path string) {
	p.t.Helper()
	p.visit("/console" + path)
}

// visit opens any page of the service.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.server.URL + path))
}

// js evaluates an expression in the page.
func js[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// quoted is a text as a JavaScript literal.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// until waits until an expression is true. An error counts as false, since a page can't be evaluated while it
// is replaced by the next one.
func (p *tab) until(what, expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for pause := look; ; pause = min(2*pause, 10*look) {
		if holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && holds {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			p.t.Fatalf("waited %s in vain: %s\nthe page: %s", patience, what, p.shown())
		}
	}
}

// look is the first interval at which a page is evaluated again. Each evaluation delays the browser.
const look = 25 * time.Millisecond

// shown is the text of the page, for error messages.
func (p *tab) shown() string {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.title + " | " + location.pathname + " | " + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// sees waits for a text on the page.
func (p *tab) sees(text string) {
	p.t.Helper()
	p.until("to see "+text, `document.body && document.body.innerText.replaceAll("\u00a0", " ").includes(`+quoted(text)+`)`)
}

// at waits until the path begins so.
func (p *tab) at(path string) {
	p.t.Helper()
	p.until("to be at "+path, `document.readyState === "complete" && location.pathname.startsWith(`+quoted("/console"+path)+`)`)
}

// fill types into a field.
func (p *tab) fill(selector, text string) {
	p.t.Helper()
	p.until("a field "+selector, `(function () { var f = document.querySelector(`+quoted(selector)+`); if (!f) return false; f.focus(); f.value = `+quoted(text)+`; f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
}

// press clicks a button or link with this text, within a selector, and waits for the page to which it leads, so
// that the next action isn't applied to the old page.
func (p *tab) press(within, word string) {
	p.t.Helper()
	p.click(within, word, "window.left = true")
	p.until("the page after "+word, `document.readyState === "complete" && !window.left`)
}

// click finds and clicks a button or link in one evaluation, since the page of a run replaces its parts.
func (p *tab) click(within, word, before string) {
	p.t.Helper()
	p.clicks++
	find := `Array.from(document.querySelectorAll(` + quoted(within) + `)).flatMap(function (w) { return Array.from(w.querySelectorAll("button, a, summary")) }).find(function (b) { return (b.innerText || "").replaceAll("\u00a0", " ").trim() === ` + quoted(word) + ` })`
	p.until("a button "+word, `(function () { var b = `+find+`; if (!b) return false; `+before+`; b.click(); return true })()`)
}

// signIn signs a user in through the pages, with the code in the log.
func (p *tab) signIn(email string) {
	p.t.Helper()
	p.open("/sign-in")
	before := len(p.server.Log())
	p.fill("#email", email)
	p.press("main", "Send a code")
	p.at("/sign-in/code")
	p.fill("#code", p.server.SignInCode(email, before))
	p.press("main", "Sign in")
	p.until("to be signed in", `document.readyState === "complete" && !!document.querySelector(".side__foot")`)
}

// choose selects one of some radio buttons.
func (p *tab) choose(name, value string) {
	p.t.Helper()
	p.tick(`[name="` + name + `"][value="` + value + `"]`)
}

// tick clicks a radio button or a checkbox.
func (p *tab) tick(selector string) {
	p.t.Helper()
	p.clicks++
	p.until("a choice "+selector, `(function () { var c = document.querySelector(`+quoted(selector)+`); if (!c) return false; c.click(); return true })()`)
}

// encoded formats a document as a person would paste it.
func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
