package graph

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// eachDrawing checks the markup of plans and machines.
func eachDrawing(t *testing.T, check func(t *rapid.T, g Graph, svg string)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		g := drawPlaced(t, 10)
		check(t, g, string(Plan(g)))
		check(t, g, string(Machine(g)))
	})
}

// elements reads the markup as XML, every one of them checked.
func elements(t interface{ Fatalf(string, ...any) }, svg string) []xml.StartElement {
	d := xml.NewDecoder(strings.NewReader(svg))
	list := []xml.StartElement{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		if e, is := token.(xml.StartElement); is {
			list = append(list, e.Copy())
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestMarkupIsWellFormed(t *testing.T) {
	eachDrawing(t, func(t *rapid.T, _ Graph, svg string) { elements(t, svg) })
}

// Whatever the text is, only these elements come out, and none has a style or an
// event handler, which the console's policy forbids.
func TestTextBecomesNoMarkup(t *testing.T) {
	known := map[string]bool{
		"svg": true, "title": true, "desc": true, "marker": true, "path": true, "g": true, "a": true,
		"rect": true, "text": true, "tspan": true, "circle": true, "use": true,
	}
	eachDrawing(t, func(t *rapid.T, _ Graph, svg string) {
		for _, e := range elements(t, svg) {
			if !known[e.Name.Local] {
				t.Fatalf("<%s> in the drawing", e.Name.Local)
			}
			for _, a := range e.Attr {
				if n := a.Name.Local; n == "style" || strings.HasPrefix(n, "on") {
					t.Fatalf("%s= on <%s>", n, e.Name.Local)
				}
			}
		}
	})
}

func TestLinksLeadToPagesOnly(t *testing.T) {
	eachDrawing(t, func(t *rapid.T, _ Graph, svg string) {
		for _, e := range elements(t, svg) {
			if href := attribute(e, "href"); strings.Contains(href, "javascript") {
				t.Fatalf("href %q", href)
			}
		}
	})
}

func TestSameGraphGivesSameBytes(t *testing.T) {
	eachDrawing(t, func(t *rapid.T, g Graph, svg string) {
		if again := string(Plan(g)); again != svg && string(Machine(g)) != svg {
			t.Fatalf("two drawings:\n%s\n%s", svg, again)
		}
	})
}

func TestEachNodeIsDrawnOnce(t *testing.T) {
	eachDrawing(t, func(t *rapid.T, g Graph, svg string) {
		if n := strings.Count(svg, `<g class="g-node`); n != len(g.Nodes) {
			t.Fatalf("%d boxes for %d nodes", n, len(g.Nodes))
		}
	})
}

func TestALinkIsNamedByWhatItShows(t *testing.T) {
	g := Graph{ID: "run", Title: "Plan", Nodes: []Node{{ID: "a", Title: `Read "order"`, Icon: "s-completed", Word: "Completed", Href: "#s1"}}}
	svg := string(Plan(g))
	for _, want := range []string{
		`<a href="#s1"><g class="g-node">`, `>Read &#34;order&#34;</text>`,
		`role="group" aria-labelledby="run-title run-desc"><title id="run-title">Plan</title><desc id="run-desc"></desc>`,
		`role="img" aria-label="Completed"><use href="/console/assets/sprite.svg#s-completed"/></svg>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s isn't in\n%s", want, svg)
		}
	}
}

// A screen reader doesn't look into an image, so only a graph without links is
// one.
func TestGraphWithoutLinksIsAnImage(t *testing.T) {
	if svg := string(Plan(graphOf("ab", "ab"))); !strings.Contains(svg, `role="img" aria-labelledby="g-title g-desc"`) {
		t.Error(svg)
	}
}

func TestCutTextIsWholeInATitle(t *testing.T) {
	g := Graph{Nodes: []Node{{ID: "a", Title: "Notify the customer of the refund by letter"}}}
	svg := string(Plan(g))
	if !strings.Contains(svg, "<title>Notify the customer of the refund by letter</title>") || !strings.Contains(svg, "…</text>") {
		t.Error(svg)
	}
}

func TestStatesHaveTheirShapes(t *testing.T) {
	g := graphOf("ab", "ab")
	g.Nodes[0].Start, g.Nodes[0].State, g.Nodes[0].Dashed = true, "here", true
	g.Nodes[1].Final, g.Nodes[1].Badge = true, "2"
	g.Edges[0].State, g.Edges[0].Priority, g.Edges[0].Label = "now", "1", []string{"over 200", "/ ask"}
	svg := string(Machine(g))
	for _, want := range []string{
		`<circle class="g-start"`, `<path class="g-startl"`, `<g class="g-node here dry">`, `<g class="g-node final">`, `<rect class="inner"`,
		`<rect class="badge"`, `>2</text>`, `<g class="g-edge now"><path d="M`, `marker-end="url(#g-n)"`, `<tspan class="pr">1</tspan>  over 200 / ask</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s isn't in\n%s", want, svg)
		}
	}
}

func TestTextSaysEachEdge(t *testing.T) {
	g := graphOf("abc", "ab", "bb", "ax")
	g.Nodes[0].Title, g.Edges[0].Label, g.Edges[0].Priority = "Asked", []string{"in time", "/ read"}, "1"
	got := strings.Join(g.Text(), "\n")
	if want := "Asked → b: 1 in time / read\nb → b\nc"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTooLargeGraphIsSaidInWords(t *testing.T) {
	for _, g := range []Graph{chain(MaxNodes + 1), {Edges: make([]Edge, MaxEdges+1)}} {
		if s := string(Machine(g)); s != string(Plan(g)) || strings.Contains(s, "<svg") || !strings.Contains(s, "too large to draw") {
			t.Errorf("%.200s", s)
		}
	}
}

// Text says each edge as a line, "Read order → Refund: amount", and each node
// without any as its title.
func (g Graph) Text() []string {
	nodes, arcs, loops := g.resolve()
	lines, touched := []string{}, make([]bool, len(nodes))
	say := func(a arc) {
		touched[a.from], touched[a.to] = true, true
		lines = append(lines, g.sentence(a, nodes))
	}
	for _, a := range arcs {
		say(a)
	}
	for _, a := range loops {
		say(a)
	}
	for i, n := range nodes {
		if !touched[i] {
			lines = append(lines, n.name())
		}
	}
	return lines
}

func (g Graph) sentence(a arc, nodes []Node) string {
	s := nodes[a.from].name() + " → " + nodes[a.to].name()
	if label := g.Edges[a.edge].whole(); label != "" {
		s += ": " + label
	}
	return s
}
