package graph

import (
	"math"
	"slices"
	"strings"
)

// edges writes all lines before all labels, so that no line covers a label, with the
// current edge on top.
func (p *page) edges(g Graph, pic picture) {
	for _, now := range []bool{false, true} {
		for _, r := range pic.routes {
			if e := g.Edges[r.edge]; (e.State == "now") == now {
				p.line(e, pic.visible(r))
			}
		}
	}
	for _, r := range pic.routes {
		if r.label.w > 0 {
			e := g.Edges[r.edge]
			p.link(e.Href, func() { p.label(e, r) })
			p.raw("\n")
		}
	}
}

func (p *page) edgeClass(e Edge) string { return strings.TrimSpace("g-edge " + text(e.State)) }

func (p *page) line(e Edge, points []point) {
	head := "a"
	switch e.State {
	case "done", "past":
		head = "d"
	case "now":
		head = "n"
	}
	p.raw(`<g class="`, p.edgeClass(e), `"><path d="`, path(points), `" marker-end="url(#`, p.id, "-", head, `)"/></g>`, "\n")
}

// visible is a route's line from outline to outline: it reaches into the round
// ends of final states, and stops just before what its arrow points at.
func (p picture) visible(r route) []point {
	points := slices.Clone(r.points)
	first, last, before := &points[0], &points[len(points)-1], points[len(points)-2]
	if first.y == points[1].y {
		first.x += sign(first.x-points[1].x) * p.hollow(r.from, first.y)
	}
	if last.y == before.y {
		last.x += sign(last.x-before.x) * p.hollow(r.to, last.y)
	}
	const short = 2
	last.x -= short * sign(last.x-before.x)
	last.y -= short * sign(last.y-before.y)
	return points
}

// hollow is how far a node's outline is inside its box at this height.
func (p picture) hollow(v int, y float64) float64 {
	if !p.nodes[v].Final {
		return 0
	}
	round := p.boxes[v].h / 2
	off := y - p.boxes[v].y - round
	return round - math.Sqrt(max(0, round*round-off*off))
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	default:
		return 0
	}
}

// path draws an orthogonal line with rounded corners, less round where there is
// no room.
func path(points []point) string {
	points = straighten(points)
	d := strings.Builder{}
	d.WriteString("M" + num(points[0].x) + " " + num(points[0].y))
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if i+1 == len(points) {
			d.WriteString(towards(a, b, 0))
			break
		}
		c := points[i+1]
		r := min(corner, roundness(points, i), roundness(points, i+1))
		end := point{b.x + r*sign(c.x-b.x), b.y + r*sign(c.y-b.y)}
		d.WriteString(towards(a, b, r) + "Q" + num(b.x) + " " + num(b.y) + " " + num(end.x) + " " + num(end.y))
	}
	return d.String()
}

// roundness is how much of a segment one corner may use: half of a segment between two
// corners, all of the first, and of the last what its arrowhead leaves.
func roundness(points []point, end int) float64 {
	d := distance(points[end-1], points[end])
	switch end {
	case 1:
		return d
	case len(points) - 1:
		return max(0, d-8)
	default:
		return d / 2
	}
}

// towards is a straight piece from a to b that ends r before b.
func towards(a, b point, r float64) string {
	if a.y == b.y {
		return "H" + num(b.x-r*sign(b.x-a.x))
	}
	return "V" + num(b.y-r*sign(b.y-a.y))
}

func distance(a, b point) float64 { return math.Abs(a.x-b.x) + math.Abs(a.y-b.y) }

// straighten removes points without a corner.
func straighten(points []point) []point {
	out := points[:1:1]
	for i := 1; i < len(points); i++ {
		n := len(out)
		if n > 1 && (out[n-2].x == out[n-1].x && out[n-1].x == points[i].x || out[n-2].y == out[n-1].y && out[n-1].y == points[i].y) {
			out[n-1] = points[i]
		} else if out[n-1] != points[i] {
			out = append(out, points[i])
		}
	}
	return out
}

func (p *page) label(e Edge, r route) {
	p.raw(`<g class="`, p.edgeClass(e), `">`)
	bottom := r.label.y + r.label.h - 3
	for i, line := range r.text.lines {
		class, room := "halo", r.label.w
		if r.text.mono {
			class += " m"
		}
		if i == 0 {
			room -= r.text.lead()
		}
		shown, short := cut(line, room+0.5, r.text.size(), r.text.mono)
		p.raw(`<text class="`, class, `"`)
		p.attr("x", r.label.x+r.label.w/2, "y", bottom-lineHeight*float64(len(r.text.lines)-1-i))
		p.raw(` text-anchor="middle">`)
		if short {
			p.raw("<title>", text(e.whole()), "</title>")
		}
		if i == 0 && r.text.prior != "" {
			p.raw(`<tspan class="pr">`, text(r.text.prior), "</tspan>  ")
		}
		p.raw(text(shown), "</text>")
	}
	p.raw("</g>")
}
