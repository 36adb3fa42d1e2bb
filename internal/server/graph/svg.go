package graph

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// page builds markup. All text goes through its text method, which escapes it.
type page struct {
	strings.Builder
	id    string
	steps bool // plan or machine
}

func (p *page) raw(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// text escapes text, including hidden characters, since labels are untrusted.
func text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r == 0xFFFE || r == 0xFFFF {
			return -1 // not allowed in XML
		}
		return r
	}, safetext.Escaped(s)))
}

// num writes a length, to a tenth of a pixel.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// attr writes x="1" y="2" and the like.
func (p *page) attr(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		p.raw(" ", pairs[i].(string), `="`, num(pairs[i+1].(float64)), `"`)
	}
}

func write(g Graph, pic picture, steps bool) template.HTML {
	p := &page{id: elementID(g.ID), steps: steps}
	p.open(g, pic)
	p.heads()
	for _, at := range pic.starts {
		p.start(at)
	}
	p.edges(g, pic)
	for v, n := range pic.nodes {
		p.node(n, pic.boxes[v])
	}
	p.raw("</svg>")
	return template.HTML(p.String()) // all text went through text
}

// maxFit is the width up to which a graph may be drawn smaller to fit its window: beyond
// it nobody could read it, and the window scrolls.
const maxFit = 1500.0

// open writes the outer element. Screen readers skip the content of an image, so a
// graph with links is a group.
func (p *page) open(g Graph, pic picture) {
	role := "img"
	if g.hasLinks() {
		role = "group"
	}
	w, h := num(pic.width), num(pic.height)
	class := ""
	if pic.width <= maxFit {
		class = ` class="fits"`
	}
	p.raw(`<svg xmlns="http://www.w3.org/2000/svg"`, class, ` width="`, w, `" height="`, h, `" viewBox="0 0 `, w, ` `, h, `"`)
	p.raw(` role="`, role, `" aria-labelledby="`, p.id, `-title `, p.id, `-desc">`)
	p.raw(`<title id="`, p.id, `-title">`, text(g.Title), `</title><desc id="`, p.id, `-desc">`, text(g.Description), "</desc>\n")
}

func (g Graph) hasLinks() bool {
	for _, n := range g.Nodes {
		if n.Href != "" {
			return true
		}
	}
	for _, e := range g.Edges {
		if e.Href != "" {
			return true
		}
	}
	return false
}

// elementID keeps what may stand in an id and in url(#id).
func elementID(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, s)
	if s == "" || s[0] == '-' || '0' <= s[0] && s[0] <= '9' {
		s = "g" + s
	}
	return s
}

// heads are the arrowheads: default, taken before, and taken now.
func (p *page) heads() {
	for _, kind := range []string{"a", "d", "n"} {
		class := "g-head"
		if kind != "a" {
			class += " g-head--" + kind
		}
		p.raw(`<marker id="`, p.id, "-", kind, `" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">`)
		p.raw(`<path class="`, class, `" d="M0 .5L8 4 0 7.5z"/></marker>`)
	}
	p.raw("\n")
}

func (p *page) start(at point) {
	p.raw(`<circle class="g-start"`)
	p.attr("cx", at.x-22, "cy", at.y, "r", 4.0)
	p.raw(`/><path class="g-startl" d="M`, num(at.x-18), " ", num(at.y), "H", num(at.x-2), `" marker-end="url(#`, p.id, `-d)"/>`, "\n")
}

// link wraps what draw writes into a link, if there is somewhere to go. Its name is
// what it shows, the icon's word included.
func (p *page) link(href string, draw func()) {
	if href == "" {
		draw()
		return
	}
	p.raw(`<a href="`, text(safe(href)), `">`)
	draw()
	p.raw("</a>")
}

// safe accepts only site-relative and http(s) links: html/template doesn't check this
// markup.
func safe(href string) string {
	for _, start := range []string{"/", "#", "?", "https://", "http://"} {
		if strings.HasPrefix(href, start) {
			return href
		}
	}
	return "#"
}

// refusal replaces a graph that is too large to draw.
func refusal(g Graph) template.HTML {
	return template.HTML(`<p class="note">` + text("This graph is too large to draw: "+strconv.Itoa(len(g.Nodes))+" boxes and "+strconv.Itoa(len(g.Edges))+" arrows.") + "</p>")
}
