package manual_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/countersign/countersign/internal/server/manual"
)

// openAPI is a document of one operation and one type.
const openAPI = `{"openapi":"3.1.0","info":{"title":"t","version":"0.1.0"},"servers":[{"url":"https://c.example/v1"}],
"paths":{"/things/{id}":{"put":{"operationId":"putThing","summary":"Write a thing","description":"Needs the role OPERATOR.","tags":["things"],
"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string","pattern":"^[a-z]*$"}}],
"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
"responses":{"200":{"description":"OK","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},"409":{"description":"Conflict"}}}}},
"components":{"schemas":{"Thing":{"type":"object","required":["size"],"properties":{"size":{"type":"integer","minimum":1,"description":"how large"},
"kind":{"type":["string","null"],"enum":["a","b"]},"parts":{"type":"array","items":{"$ref":"#/components/schemas/Thing"}},"free":{"type":"object","additionalProperties":true}}}}}}`

func newManual(t *testing.T, files map[string]string) *manual.Manual {
	t.Helper()
	pages := fstest.MapFS{
		"README.md": {Data: []byte("# Manual\n\nWhat this is.\n\n## Start\n\n- [One](one.md)\n- [Deep](how-to/deep.md)\n- [API](api.md)\n")},
		"one.md":    {Data: []byte("# One\n\nFirst words.\n")}, "how-to/deep.md": {Data: []byte("# Deep\n")}, "api.md": {Data: []byte("# API\n\nShared.\n")},
	}
	for name, text := range files {
		pages[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, name := range []string{"project", "model", "compile"} {
		pages["example/"+name+".json"] = &fstest.MapFile{Data: []byte("{}")}
	}
	return manual.New(manual.Config{
		BaseURL: "https://c.example", Files: pages, Index: "README.md", Document: func() ([]byte, error) { return []byte(openAPI), nil },
		Asset: func(name string) string { return "/assets/" + name }, Theme: func(r *http.Request) string { return r.Header.Get("X-Theme") },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

func ask(m *manual.Manual, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	return w.Result()
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func get(t *testing.T, m *manual.Manual, path string) string {
	t.Helper()
	r := ask(m, "GET", path)
	if r.StatusCode != 200 {
		t.Fatalf("GET %s: %d", path, r.StatusCode)
	}
	return read(t, r)
}

func wantAll(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

func TestAPageIsServedAsHTMLAndAsMarkdown(t *testing.T) {
	m := newManual(t, nil)
	wantAll(t, get(t, m, "/docs/one"), "<h1>One</h1>", "<p>First words.</p>", `href="/docs/how-to/deep"`, `href="/docs/one" aria-current="page"`)
	if text := get(t, m, "/docs/one.md"); text != "# One\n\nFirst words.\n" {
		t.Errorf("the Markdown is %q", text)
	}
}

func TestThePagesAreOnlyRead(t *testing.T) {
	r := ask(newManual(t, nil), "POST", "/docs/one")
	if text := read(t, r); r.StatusCode != 405 || text != "only GET and HEAD are allowed here\n" {
		t.Errorf("%d %s", r.StatusCode, text)
	}
}

func TestLinksLeadToWhereThePagesAreServed(t *testing.T) {
	m := newManual(t, map[string]string{"how-to/deep.md": "# Deep\n\n[a](../one.md#x) [b](other.md) [c](../README.md) [d](../../SECURITY.md) [e](https://e.example/x.md) [f](#here) ![p](../screens/p.png)\n"})
	wantAll(t, get(t, m, "/docs/how-to/deep"), `href="/docs/one#x"`, `href="/docs/how-to/other"`, `href="/docs/"`,
		`href="https://github.com/countersign/countersign/blob/main/SECURITY.md"`, `href="https://e.example/x.md"`, `href="#here"`, `src="/docs/screens/p.png"`)
}

func TestHTMLInAPageIsLeftOut(t *testing.T) {
	page := get(t, newManual(t, map[string]string{"one.md": "# One\n\n<script>alert(1)</script>\n\nHi <b onclick=x>there</b> [j](javascript:alert(1))\n"}), "/docs/one")
	for _, bad := range []string{"<script", "onclick", "javascript:"} {
		if strings.Contains(page, bad) {
			t.Errorf("%s came through:\n%s", bad, page)
		}
	}
}

func TestACommentNamesTheFileOfABlock(t *testing.T) {
	page := get(t, newManual(t, map[string]string{"one.md": "# One\n\n<!-- file: a<b.json -->\n```json\n{\"a\": \"<\"}\n```\n\n<!-- expect -->\n```text\nx\n```\n"}), "/docs/one")
	wantAll(t, page, "a&lt;b.json", "{&#34;a&#34;: &#34;&lt;&#34;}")
	if strings.Contains(page, "expect") || strings.Contains(page, "omitted") {
		t.Errorf("a comment is shown:\n%s", page)
	}
}

func TestAStateDiagramIsDrawnAndWhatIsNoneStaysText(t *testing.T) {
	m := newManual(t, map[string]string{
		"one.md":         "# One\n\n```mermaid\nstateDiagram-v2\n    [*] --> READY: start\n    READY --> DONE: taken<br/>or not\n    DONE --> [*]\n```\n",
		"how-to/deep.md": "# Deep\n\n```mermaid\nflowchart LR\n    A-->B\n```\n",
	})
	wantAll(t, get(t, m, "/docs/one"), "<svg", ">READY<", "or not", `class="g-node final"`)
	wantAll(t, get(t, m, "/docs/how-to/deep"), "flowchart LR")
}

func TestATableHasHeadingsWhereItNamesThem(t *testing.T) {
	page := get(t, newManual(t, map[string]string{"one.md": "# One\n\n| | What |\n|---|---|\n| a | b |\n"}), "/docs/one")
	wantAll(t, page, "<td></td>\n<th>What</th>", "<td>a</td>")
}

// TestTheCellsOfATextTableNameTheirColumns, which a narrow window shows without the heading. A
// table with figures stays one.
func TestTheCellsOfATextTableNameTheirColumns(t *testing.T) {
	m := newManual(t, map[string]string{
		"text.md":    "# T\n\n| Name | *What* it is | Use |\n|---|---|---|\n| `a` | b | c |\n",
		"figures.md": "# F\n\n| Name | Now | Before |\n|---|--:|--:|\n| a | 1 | 2 |\n",
	})
	wantAll(t, get(t, m, "/docs/text"), `<table class="doc-rows">`, "<td><code>a</code></td>", `<td data-label="What it is">b</td>`, `<td data-label="Use">c</td>`)
	wantAll(t, get(t, m, "/docs/figures"), "<table>", `<th class="num">Now</th>`, `<td class="num">1</td>`)
}

func TestHeadingsHaveTheIdsOfGitHub(t *testing.T) {
	page := get(t, newManual(t, map[string]string{"one.md": "# One\n\n## `not_found` and more, now\n\n## Again\n\n## Again\n"}), "/docs/one")
	wantAll(t, page, `id="not_found-and-more-now"`, `id="again"`, `id="again-1"`)
}

func TestThereIsAPageForAddressesWithout(t *testing.T) {
	m := newManual(t, nil)
	for _, path := range []string{"/docs/nothing", "/docs/../one", "/docs/missing", "/docs/how-to", "/docs/one.md.md"} {
		r := ask(m, "GET", path)
		if body := read(t, r); r.StatusCode != 404 || !strings.Contains(body, "Page not found") || !strings.Contains(body, "/docs/one") {
			t.Errorf("%s: %d\n%s", path, r.StatusCode, body)
		}
	}
}

func TestOtherWaysToWriteAnAddressLeadToTheOne(t *testing.T) {
	m := newManual(t, nil)
	for path, want := range map[string]string{"/docs": "/docs/", "/docs/one/": "/docs/one", "/docs/README": "/docs/"} {
		if r := ask(m, "GET", path); r.StatusCode != 301 || r.Header.Get("Location") != want {
			t.Errorf("%s: %d to %q", path, r.StatusCode, r.Header.Get("Location"))
		}
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	m := newManual(t, nil)
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if r := ask(m, method, "/docs/one"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
	r := ask(m, "HEAD", "/docs/one")
	if body := read(t, r); r.StatusCode != 200 || body != "" || r.Header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d, %q", r.StatusCode, body)
	}
}

func TestWhatTheReaderHasIsNotSentAgain(t *testing.T) {
	m := newManual(t, map[string]string{"one.md": "# One\n\n" + strings.Repeat("long words ", 500)})
	for _, encoding := range []string{"", "gzip"} {
		first := ask(m, "GET", "/docs/one", "Accept-Encoding", encoding)
		again := ask(m, "GET", "/docs/one", "Accept-Encoding", encoding, "If-None-Match", first.Header.Get("ETag"))
		if body := read(t, again); again.StatusCode != 304 || body != "" {
			t.Errorf("%q: %d, %d bytes", encoding, again.StatusCode, len(body))
		}
		if other := ask(m, "GET", "/docs/one", "Accept-Encoding", encoding, "X-Theme", "dark", "If-None-Match", first.Header.Get("ETag")); other.StatusCode != 200 {
			t.Errorf("%q: another theme is another page, and got %d", encoding, other.StatusCode)
		}
	}
}

func TestAPageRunsNothing(t *testing.T) {
	m := newManual(t, nil)
	for _, path := range []string{"/docs/", "/docs/one", "/docs/api", "/docs/api/things", "/docs/api/types", "/docs/nothing"} {
		r := ask(m, "GET", path)
		body := read(t, r)
		if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for _, bad := range []string{"<script", "<style", " style=", "http://"} {
			if strings.Contains(strings.ReplaceAll(body, `xmlns="http://www.w3.org/2000/svg"`, ""), bad) {
				t.Errorf("%s has %s", path, bad)
			}
		}
	}
}

func TestTheReferenceShowsEveryFieldOfTheDocument(t *testing.T) {
	m := newManual(t, nil)
	wantAll(t, get(t, m, "/docs/api"), "Shared.", `href="/docs/api/things#putThing"`, "Needs the role OPERATOR.")
	wantAll(t, get(t, m, "/docs/api/things"), `id="putThing"`, "/things/{id}", "how large", "at least 1", "string or null", "a, b", `href="/docs/api/types#Thing"`, "array of Thing", `href="/docs/reference/errors#409"`, "matches ^[a-z]*$")
	wantAll(t, get(t, m, "/docs/api/types"), `id="Thing"`)
}

func TestTheIndexForProgramsLeadsToTheMarkdown(t *testing.T) {
	r := ask(newManual(t, nil), "GET", "/llms.txt")
	wantAll(t, read(t, r), "# Countersign\n\n> What this is.", "## Start", "- [One](https://c.example/docs/one.md): First words.", "https://c.example/v1/openapi.json", "https://c.example/mcp/agents/")
	if kind := r.Header.Get("Content-Type"); kind != "text/plain; charset=utf-8" {
		t.Errorf("it is %q", kind)
	}
}

func TestProgramsAreServedAsText(t *testing.T) {
	m := newManual(t, map[string]string{"example/desk/main.go": "package main\n", "example/desk/desk.ts": "export {};\n"})
	for _, path := range []string{"/docs/example/desk/main.go", "/docs/example/desk/desk.ts"} {
		r := ask(m, "GET", path)
		if kind := r.Header.Get("Content-Type"); r.StatusCode != http.StatusOK || kind != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d, %q", path, r.StatusCode, kind)
		}
	}
}

func TestASearchFindsSectionsByTheirWordsWithoutAScript(t *testing.T) {
	m := newManual(t, map[string]string{
		"one.md":         "# One\n\nFirst words of a refund.\n\n## Lost answers\n\nNobody knows. `kill -9` <b>bold</b>\n\n| Code | Meaning |\n|---|---|\n| `not_sent` | nothing left |\n",
		"how-to/deep.md": "# Deep\n\n## Refund it\n\n```sh\ncountersign refund --now\n```\n",
	})
	found := get(t, m, "/docs/search?q=refund")
	wantAll(t, found, `href="/docs/how-to/deep#refund-it"`, `href="/docs/one"`, "<mark>refund</mark>", `value="refund"`, `data-q="refund"`)
	if _, list, _ := strings.Cut(found, `id="found"`); strings.Index(list, "deep#refund-it") > strings.Index(list, `"/docs/one"`) {
		t.Error("a title counts less than a text")
	}
	for query, want := range map[string]string{"NOT_SENT": "/docs/one#lost-answers", "knows+kill": "/docs/one#lost-answers", "countersign": "/docs/how-to/deep#refund-it", "putThing": "/docs/api/things#putThing", "/things/": "/docs/api/things#putThing"} {
		wantAll(t, get(t, m, "/docs/search?q="+query), `<a href="`+want+`">`)
	}
	none := get(t, m, "/docs/search?q=%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE+knows")
	wantAll(t, none, "No section has all of these words.", "&lt;script&gt;")
	if strings.Contains(none, "<script>alert") || strings.Contains(none, "<li><a") {
		t.Errorf("it is answered with\n%s", none)
	}
	for _, query := range []string{"", "+", "%00", "%FF%FE", strings.Repeat("a", 5000), strings.Repeat("a+", 400)} {
		get(t, m, "/docs/search?q="+query)
	}
}

func TestOnlyThePageOfTheSearchHasAScript(t *testing.T) {
	m := newManual(t, nil)
	for _, path := range []string{"/docs/search", "/docs/search?q=one"} {
		r := ask(m, "GET", path, "X-Theme", "dark")
		body := read(t, r)
		wantAll(t, body, `<script src="/docs/assets/search.js" defer></script>`, `href="/docs/assets/search-index.js"`, `data-theme="dark"`)
		if policy := r.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; script-src 'self'") || strings.Contains(policy, "unsafe") || strings.Count(body, "<script") != 1 {
			t.Errorf("%s: %q", path, policy)
		}
	}
	wantAll(t, get(t, m, "/docs/assets/search-index.js"), "window.manualIndex = [", `"h":"/docs/one","t":"First words."`)
	wantAll(t, get(t, m, "/docs/assets/search.js"), "manualIndex")
}
