package graph

import (
	"math"
	"strings"
)

// Distances in px. Those along y are whole numbers, so that rounding keeps alignment.
const (
	nodeHeight = 52.0
	planWidth  = 180.0
	nodeApart  = 36.0 // between two nodes
	laneApart  = 15.0 // between a node and a lane, so that two nodes with a lane between them are apart, too
	laneRoom   = 4.0  // between two lanes, besides what they take

	gapLeast, gapMost = 72.0, 120.0 // between two layers
	lanePitch         = 10.0        // between two vertical pieces
	runOut, runIn     = 13.0, 22.0  // from a node to the first vertical piece; from the last to the arrow

	labelLeast = 66.0 // ten letters: a gap with many vertical pieces is wider than gapMost for them
	corner     = 12.0
	lineHeight = 13.0
	labelDrop  = 7.0 // from a label's last baseline down to its edge
	margin     = 12.0

	rowLayers     = 6
	machineLayers = 8 // a machine of so many isn't broken into rows
)

// measures are the sizes that differ between plans and machines.
type measures struct {
	nodeWidth float64
	labelMost float64 // the most that a label may take
	shared    bool    // all edges leave a node at one point, and enter at one
	wrapped   bool    // labels break into lines
	gapLeast  float64
	gapStrict bool // labels are cut so that a gap keeps to gapMost
}

func planMeasures() measures {
	return measures{nodeWidth: planWidth, labelMost: planWidth - 12, shared: true, gapLeast: gapLeast, gapStrict: true}
}

// machineMeasures makes all states as wide as the longest name needs, within bounds.
func machineMeasures(nodes []Node) measures {
	width := 150.0
	for _, n := range nodes {
		room := 28.0
		if n.Icon != "" {
			room = planWidth - titleRoom(planWidth)
		}
		title, sub := textWidth(n.Title, titleSize, false), textWidth(n.Sub, smallSize, false)
		width = max(width, min(200, math.Ceil(max(title, sub)+room)))
	}
	return measures{nodeWidth: width, labelMost: 168, wrapped: true, gapLeast: 56}
}

// textLeft is where text begins beside an icon.
const textLeft = 36.0

// titleRoom is what the icon at the left leaves of a node for its text.
func titleRoom(width float64) float64 { return width - textLeft - 10 }

// block is a label before it has a place: its lines, and what it takes above its
// edge.
type block struct {
	lines []string
	mono  bool
	prior string
}

func (m measures) block(e Edge) block {
	b := block{mono: e.Mono, prior: e.Priority}
	lines := e.Label
	if joined := strings.Join(lines, " "); m.wrapped && b.measure(joined)+b.lead() <= m.labelMost {
		lines = []string{joined}
	}
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if m.wrapped {
			b.lines = append(b.lines, wrap(line, m.labelMost-b.lead(), b.size(), b.mono)...)
		} else {
			b.lines = append(b.lines, line)
		}
	}
	if len(b.lines) > 4 {
		b.lines = append(b.lines[:3:3], "…")
	}
	if len(b.lines) == 0 && b.prior != "" {
		b.lines = []string{""}
	}
	return b
}

func (b block) size() float64 {
	if b.mono {
		return monoSize
	}
	return smallSize
}

func (b block) measure(line string) float64 { return textWidth(line, b.size(), b.mono) }

// lead is the priority and two spaces.
func (b block) lead() float64 {
	if b.prior == "" {
		return 0
	}
	return b.measure(b.prior + "  ")
}

func (b block) empty() bool { return len(b.lines) == 0 }

// width is that of the longest line, and at most room.
func (b block) width(room float64) float64 {
	w := 0.0
	for i, line := range b.lines {
		lead := 0.0
		if i == 0 {
			lead = b.lead()
		}
		w = max(w, b.measure(line)+lead)
	}
	return math.Ceil(min(w, room))
}

// rise is the height of a lane with this label above its line.
func (b block) rise() float64 {
	if b.empty() {
		return 5
	}
	return labelDrop + 11 + lineHeight*float64(len(b.lines)-1)
}

const laneFall = 2.0 // what a lane takes below its line
