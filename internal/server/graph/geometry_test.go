package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// near is less than what rounding to tenths of a pixel could move.
const near = 0.01

func (b box) overlaps(c box) bool {
	return b.x < c.x+c.w-near && c.x < b.x+b.w-near && b.y < c.y+c.h-near && c.y < b.y+b.h-near
}

func (b box) grown(x, y float64) box { return box{b.x - x, b.y - y, b.w + 2*x, b.h + 2*y} }

// segment is the box of a straight piece of a line.
func segment(a, b point) box {
	return box{min(a.x, b.x), min(a.y, b.y), math.Abs(a.x - b.x), math.Abs(a.y - b.y)}.grown(2*near, 2*near)
}

func TestNodesAreApart(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for i, a := range p.boxes {
			for _, b := range p.boxes[:i] {
				if a.grown(28, 18).overlaps(b.grown(28, 18)) {
					t.Fatalf("%v and %v are closer than 36 px in a layer, or than 56 between layers", a, b)
				}
			}
		}
	})
}

func TestPlanNodesHaveOneSizeAndLayersOneDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := layoutPlan(drawPlan(t, 30))
		for i, a := range p.boxes {
			if a.w != planWidth || a.h != nodeHeight {
				t.Fatalf("%v isn't 180 by 52", a)
			}
			for _, b := range p.boxes[:i] {
				if d := math.Abs(a.x - b.x); d > 0 && d < planWidth+gapLeast {
					t.Fatalf("layers are %v px apart, at least 72 between them", d)
				}
			}
		}
	})
}

func TestLayersOfAnOrdinaryPlanAreAtMost120Apart(t *testing.T) {
	for _, g := range []Graph{chain(5), graphOf("abcd", "ab", "ac", "bd", "cd")} {
		for i := range g.Edges {
			g.Edges[i].Label, g.Edges[i].Mono = []string{"customerReferenceOfTheReturn"}, true
		}
		p := layoutPlan(g)
		for i := 1; i < len(p.boxes); i++ {
			if d := p.boxes[i].x - p.boxes[i-1].x - planWidth; d > gapMost {
				t.Errorf("%v px between two layers", d)
			}
		}
	}
}

func TestNoLabelLiesOnANode(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for _, r := range p.routes {
			for v, b := range p.boxes {
				if r.label.w > 0 && r.label.overlaps(b) {
					t.Fatalf("label %v of edge %d lies on node %d at %v", r.label, r.edge, v, b)
				}
			}
		}
	})
}

func TestNoLabelLiesOnAnother(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for i, r := range p.routes {
			for _, q := range p.routes[:i] {
				if r.label.w > 0 && q.label.w > 0 && r.label.overlaps(q.label) {
					t.Fatalf("labels of edges %d and %d: %v, %v", r.edge, q.edge, r.label, q.label)
				}
			}
		}
	})
}

func TestEachLabelHasRoom(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for _, r := range p.routes {
			if (r.label.w > 0) != (r.text.width(1e9) > 0) || r.label.w < min(r.text.width(1e9), 60) {
				t.Fatalf("edge %d: %v for %q", r.edge, r.label, r.text.lines)
			}
		}
	})
}

func TestEachEdgeRunsFromItsSourceToItsTarget(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for _, r := range p.routes {
			first, last := r.points[0], r.points[len(r.points)-1]
			if !onOutline(first, p.boxes[r.from]) || !onOutline(last, p.boxes[r.to]) {
				t.Fatalf("edge %d from %v to %v: %v", r.edge, p.boxes[r.from], p.boxes[r.to], r.points)
			}
		}
	})
}

func onOutline(p point, b box) bool {
	side := (p.x == b.x || p.x == b.x+b.w) && p.y > b.y && p.y < b.y+b.h
	return side || p.y == b.y && p.x > b.x && p.x < b.x+b.w
}

func TestEdgesAreOrthogonal(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for _, r := range p.routes {
			for i := 1; i < len(r.points); i++ {
				if a, b := r.points[i-1], r.points[i]; a.x != b.x && a.y != b.y {
					t.Fatalf("edge %d goes from %v to %v", r.edge, a, b)
				}
			}
		}
	})
}

func TestNoEdgePassesThroughANode(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for _, r := range p.routes {
			for i := 1; i < len(r.points); i++ {
				piece := segment(r.points[i-1], r.points[i])
				for v, b := range p.boxes {
					if piece.overlaps(b.grown(-1, -1)) {
						t.Fatalf("edge %d passes through node %d: %v, %v", r.edge, v, piece, b)
					}
				}
			}
		}
	})
}

func TestEdgesReachTheirTargetLevel(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		for _, r := range p.routes {
			a, b := r.points[len(r.points)-2], r.points[len(r.points)-1]
			if distance(a, b) < 10 {
				t.Fatalf("edge %d has no room for its arrow: %v", r.edge, r.points)
			}
		}
	})
}

// Edges between the same two states, in whatever direction, are different lines.
func TestParallelAndOppositeEdgesAreApart(t *testing.T) {
	for _, placed := range []bool{false, true} {
		g := graphOf("abc", "ab", "ab", "ba", "ba", "bc", "cb", "ac", "ca")
		for i := range g.Nodes {
			g.Nodes[i].X, g.Nodes[i].Placed = 300*float64(i), placed
		}
		p := layoutMachine(g)
		for i, r := range p.routes {
			for _, q := range p.routes[:i] {
				if along := sharedLength(r.points, q.points); along > 0 {
					t.Errorf("edges %d and %d run on each other for %v px", r.edge, q.edge, along)
				}
			}
		}
	}
}

// sharedLength is how far two lines run on each other.
func sharedLength(a, b []point) float64 {
	sum := 0.0
	for i := 1; i < len(a); i++ {
		for j := 1; j < len(b); j++ {
			s, t := segment(a[i-1], a[i]), segment(b[j-1], b[j])
			w := min(s.x+s.w, t.x+t.w) - max(s.x, t.x)
			h := min(s.y+s.h, t.y+t.h) - max(s.y, t.y)
			if w > 0 && h > 0 && max(w, h) > 1 {
				sum += max(w, h)
			}
		}
	}
	return sum
}

func TestEverythingIsOnThePage(t *testing.T) {
	eachLayout(t, func(t *rapid.T, p picture) {
		page := box{0, 0, p.width, p.height}
		for _, b := range p.boxes {
			inside(t, page, b)
		}
		for _, r := range p.routes {
			inside(t, page, r.label)
			for _, at := range r.points {
				inside(t, page, box{at.x, at.y, 0, 0})
			}
		}
		for _, at := range p.starts {
			inside(t, page, box{at.x - startLength, at.y - 4, startLength, 8})
		}
	})
}

func inside(t *rapid.T, page, b box) {
	t.Helper()
	if b.x < page.x || b.y < page.y || b.x+b.w > page.w || b.y+b.h > page.h {
		t.Fatalf("%v isn't on the page %v", b, page)
	}
}
