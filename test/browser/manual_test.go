package browser

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// manualIsSound checks the manual, which can be read without a session: every page in its index for programs, the
// pages of the reference, and the page for a missing address.
func (f *fixture) manualIsSound(t *testing.T) {
	t.Helper()
	p := newTab(t, f.Server)
	paths := p.manualPages()
	for _, path := range append(paths, "/docs/", "/docs/nothing-here", "/docs/api/types") {
		name := strings.ReplaceAll(strings.Trim(path, "/"), "/", " ")
		if strings.HasSuffix(path, "nothing-here") {
			name = "nothing here"
		}
		p.lookAt(name, path)
	}
	p.visit("/docs/api")
	for _, tag := range js[[]string](p, `Array.from(document.querySelectorAll("h3 a[href^='/docs/api/']")).map(function (a) { return a.getAttribute("href") })`) {
		p.lookAt(strings.ReplaceAll(strings.Trim(tag, "/"), "/", " "), tag)
	}
}

// manualPages are the addresses of the Markdown pages in /llms.txt.
func (p *tab) manualPages() []string {
	p.t.Helper()
	answer, err := http.Get(p.server.URL + "/llms.txt")
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`\(`+regexp.QuoteMeta(p.server.URL)+`(/docs/[^)]+)\.md\)`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	if len(all) < 20 {
		p.t.Fatalf("the manual has %d pages only:\n%s", len(all), text)
	}
	return all
}
