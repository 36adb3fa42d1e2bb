package manual

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// Search finds sections by their words. The index is made of the same Markdown as the
// pages. The service answers without a script; where nothing answers, as on the static
// site, the script of the search page reads the index and finds the same.

const (
	searchAt    = Prefix + "/search"
	indexAt     = Prefix + "/assets/search-index.js"
	searchCode  = Prefix + "/assets/search.js"
	longestText = 200 // bytes of a search
	mostWords   = 8
	mostFound   = 30
	excerptSize = 120 // characters around the first found word
)

// part is a section of a page, as it is found.
type part struct {
	Page  string `json:"p"` // title of the page
	Title string `json:"s"` // of the section, "" before the first one
	Href  string `json:"h"`
	Text  string `json:"t"`

	title, page, text string // in small letters, as they are compared
}

// lowered adds the texts in small letters, once for all searches.
func (p part) lowered() part {
	p.title, p.page, p.text = strings.ToLower(p.Title), strings.ToLower(p.Page), strings.ToLower(p.Text)
	return p
}

// partsOf cuts a page at its headings.
func partsOf(d document, href string) []part {
	parts := []part{{Page: d.title, Href: href}}
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, is := n.(*ast.Heading); is {
			if h.Level > 1 {
				id, _ := h.AttributeString("id")
				slug, _ := id.([]byte)
				parts = append(parts, part{Page: d.title, Title: words(h, d.text), Href: href + "#" + string(slug)})
			}
			continue
		}
		if n.Kind() == ast.KindHTMLBlock {
			continue
		}
		last := &parts[len(parts)-1]
		last.Text = strings.TrimSpace(last.Text + " " + words(n, d.text))
	}
	return parts
}

// words are the text of a node, code and table cells among it.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.FencedCodeBlock:
			if string(n.Language(source)) == "mermaid" {
				return ast.WalkSkipChildren, nil
			}
			b.Write(n.Lines().Value(source))
		case *ast.CodeBlock:
			b.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// index makes the parts of all pages in the order of the navigation, and of the API's
// operations.
func (b *builder) index() error {
	files := map[string]string{}
	for name := range b.pages {
		files[address(name)] = name
	}
	seen := map[string]bool{}
	take := func(href string) {
		if name, is := files[href]; is && !seen[href] {
			seen[href] = true
			b.parts = append(b.parts, partsOf(b.pages[name], href)...)
		}
	}
	for _, s := range b.nav {
		for _, e := range s.Entries {
			take(e.Href)
		}
	}
	for _, href := range slices.Sorted(maps.Keys(files)) {
		take(href)
	}
	b.parts = append(b.parts, b.operations...)
	for i := range b.parts {
		b.parts[i] = b.parts[i].lowered()
	}
	text, err := json.Marshal(b.parts)
	if err != nil {
		return err
	}
	b.site[indexAt] = file("text/javascript; charset=utf-8", []byte("window.manualIndex = "+string(text)+";\n"))
	script, err := own.ReadFile("assets/search.js")
	if err != nil {
		return err
	}
	b.site[searchCode] = file("text/javascript; charset=utf-8", script)
	return b.put(searchAt, "search", http.StatusOK, page{Title: "Search", Data: results{}})
}

// results are what was found.
type results struct {
	Query string
	Found []result
	More  bool // there are more than are shown
}

// result is a section with an excerpt: the found words are those at odd places.
type result struct {
	part
	Excerpt []string
}

// searchWords are the words of a search, in small letters.
func searchWords(text string) []string {
	text = strings.ToLower(text[:min(len(text), longestText)])
	list := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar })
	return list[:min(len(list), mostWords)]
}

// find ranks the parts that have all words: what titles say counts most.
func find(parts []part, query string) results {
	r := results{Query: strings.ToValidUTF8(query[:min(len(query), longestText)], "")}
	list := searchWords(r.Query)
	if len(list) == 0 {
		return r
	}
	type ranked struct {
		part
		score int
	}
	var hits []ranked
	for _, p := range parts {
		if score := p.rank(list); score > 0 {
			hits = append(hits, ranked{p, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b ranked) int { return b.score - a.score })
	r.More = len(hits) > mostFound
	for _, h := range hits[:min(len(hits), mostFound)] {
		r.Found = append(r.Found, result{h.part, h.excerpt(list)})
	}
	return r
}

// rank is 0 for a part that lacks a word.
func (p part) rank(list []string) (score int) {
	for _, w := range list {
		found := 0
		if strings.Contains(p.title, w) {
			found += 20
		}
		if strings.Contains(p.page, w) {
			found += 10
		}
		if n := strings.Count(p.text, w); n > 0 {
			found += min(n, 5)
		}
		if found == 0 {
			return 0
		}
		score += found
	}
	return score
}

// excerpt is the text around the first found word, cut at the found words. A text whose
// small letters take other bytes is searched as it is.
func (p part) excerpt(list []string) (out []string) {
	text, small := p.Text, p.text
	if len(small) != len(text) {
		small = text
	}
	at, found := next(small, list, 0)
	if at < 0 {
		at, found = 0, ""
	}
	from, to := max(0, at-excerptSize/2), min(len(text), at+len(found)+excerptSize)
	for from > 0 && text[from-1] != ' ' {
		from--
	}
	for to < len(text) && text[to] != ' ' {
		to++
	}
	lead := ""
	if from > 0 {
		lead = "… "
	}
	for i := from; ; {
		at, found = next(small[:to], list, i)
		if at < 0 {
			end := ""
			if to < len(text) {
				end = " …"
			}
			return append(out, lead+text[i:to]+end)
		}
		out = append(out, lead+text[i:at], text[at:at+len(found)])
		lead, i = "", at+len(found)
	}
}

// next is the first place of one of the words from a place on, -1 for none.
func next(text string, list []string, from int) (at int, found string) {
	at = -1
	for _, w := range list {
		if i := strings.Index(text[from:], w); i >= 0 && (at < 0 || from+i < at) {
			at, found = from+i, w
		}
	}
	return at, found
}

// search answers a search; the page is the same for everybody but for its theme.
func (m *Manual) search(w http.ResponseWriter, r *http.Request, s *built) {
	p := page{Title: "Search", Here: searchAt, Nav: around(s.nav, searchAt), Data: find(s.parts, strings.TrimSpace(r.URL.Query().Get("q")))}
	var out bytes.Buffer
	if err := s.search.ExecuteTemplate(&out, "layout", p); err != nil {
		m.cfg.Log.Error("manual not searched", "error", err)
		http.Error(w, "the search can't be shown; the reason is in the log", http.StatusInternalServerError)
		return
	}
	body := out.Bytes()
	if theme := m.cfg.Theme(r); theme != "" {
		body = bytes.Replace(body, []byte(plainHead), themedHead(theme), 1)
	}
	h := w.Header()
	h.Set("Vary", "Cookie, Accept-Encoding")
	h.Set("Cache-Control", "no-store")
	c := content{status: http.StatusOK, kind: htmlKind}
	c.send(w, r, newForm(body, true))
}
