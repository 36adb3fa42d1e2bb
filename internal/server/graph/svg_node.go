package graph

import "strings"

const sprite = "/console/assets/sprite.svg#"

// node writes a box. A step has its icon and text at the left, a state its text
// in the middle; one with an icon is written like a step.
func (p *page) node(n Node, b box) {
	p.link(n.Href, func() {
		p.raw(`<g class="`, text(n.class()), `">`)
		p.outline(n, b)
		if p.steps || n.Icon != "" {
			p.icon(n, b)
			p.lines(n, b.x+textLeft, b, titleRoom(b.w), "")
		} else {
			p.lines(n, b.x+b.w/2, b, b.w-24, "middle")
		}
		p.badge(n, b)
		p.raw("</g>")
	})
	p.raw("\n")
}

func (n Node) class() string {
	words := []string{"g-node"}
	if n.State != "" {
		words = append(words, n.State)
	}
	if n.Dashed {
		words = append(words, "dry")
	}
	if n.Final {
		words = append(words, "final")
	}
	return strings.Join(words, " ")
}

func (p *page) outline(n Node, b box) {
	round := 6.0
	if n.Final {
		round = b.h / 2
	}
	p.raw("<rect")
	p.attr("x", b.x, "y", b.y, "width", b.w, "height", b.h, "rx", round)
	p.raw("/>")
	if n.Final {
		p.raw(`<rect class="inner"`)
		p.attr("x", b.x+4, "y", b.y+4, "width", b.w-8, "height", b.h-8, "rx", round-4)
		p.raw("/>")
	}
}

// icon is an image with the state's word for a name.
func (p *page) icon(n Node, b box) {
	if n.Icon == "" {
		return
	}
	y := b.y + 10
	if n.Sub == "" {
		y = b.y + (b.h-16)/2
	}
	p.raw(`<svg class="i"`)
	p.attr("x", b.x+12, "y", y, "width", 16.0, "height", 16.0)
	if n.Word == "" {
		p.raw(` aria-hidden="true">`)
	} else {
		p.raw(` role="img" aria-label="`, text(n.Word), `">`)
	}
	p.raw(`<use href="`, sprite, text(n.Icon), `"/></svg>`)
}

// lines writes title and second line, cut to the room; the whole stands in a
// title element where something was cut.
func (p *page) lines(n Node, x float64, b box, room float64, anchor string) {
	title, short := cut(n.name(), room, titleSize, false)
	size := smallSize
	if p.steps {
		size = monoSize
	}
	sub, shortSub := cut(n.Sub, room, size, p.steps)
	if short || shortSub {
		p.raw("<title>", text(strings.TrimSpace(n.name()+"\n"+n.Sub)), "</title>")
	}
	y := b.y + 22.5
	if n.Sub == "" {
		y = b.y + b.h/2 + 4.5
	}
	p.write("", x, y, anchor, title)
	switch {
	case n.Sub == "":
	case p.steps:
		p.write("t2 m", x, b.y+39, anchor, sub)
	default:
		p.write("t2", x, b.y+38.5, anchor, sub)
	}
}

func (p *page) write(class string, x, y float64, anchor, s string) {
	p.raw("<text")
	if class != "" {
		p.raw(` class="`, class, `"`)
	}
	p.attr("x", x, "y", y)
	if anchor != "" {
		p.raw(` text-anchor="`, anchor, `"`)
	}
	p.raw(">", text(s), "</text>")
}

// badge is the number of a finding, at the upper right corner.
func (p *page) badge(n Node, b box) {
	if n.Badge == "" {
		return
	}
	number, _ := cut(n.Badge, 28, smallSize, false)
	w := max(20, textWidth(number, smallSize, false)+12)
	p.raw(`<rect class="badge"`)
	p.attr("x", b.x+b.w-12, "y", b.y-9, "width", w, "height", 18.0, "rx", 4.0)
	p.raw(`/><text class="badge-t"`)
	p.attr("x", b.x+b.w-12+w/2, "y", b.y+4)
	p.raw(">", text(number), "</text>")
}
