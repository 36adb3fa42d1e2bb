package graph

import "html/template"

// Limits of what is drawn: larger graphs would be unreadable, and the table beside them
// says the same.
const (
	MaxNodes = 1000
	MaxEdges = 5000
)

// Node is a box. Text is plain; the package escapes it.
type Node struct {
	ID    string // unique; of two equal ones the first is drawn
	Title string
	Sub   string // second line: "POST · 840 ms", or the state's description
	State string // CSS class: ok, run, wait, unc, fail, todo, past, here, ""
	Icon  string // symbol of the sprite without '#', "" for none
	Word  string // accessible name of the icon ("Completed")
	Badge string // number of a finding
	Href  string // where a click goes; "" nowhere

	Dashed, Start, Final bool

	X, Y   float64 // the stored position, for machines
	Placed bool
}

// Edge is an arrow. An edge to or from an unknown node is dropped.
type Edge struct {
	From, To string
	Label    []string // lines: the condition in words and "/ action", or the bound inputs of a step
	Mono     bool
	Priority string // stands before the label if not ""
	State    string // "", done, past, now
	Href     string
}

// Graph is what is drawn. ID begins the ids of all elements and is unique on the
// page.
type Graph struct {
	ID                 string
	Title, Description string
	Nodes              []Node
	Edges              []Edge
}

// Plan draws steps in layers from left to right, each after its dependencies, with more
// than six layers in several rows. A cycle, which no valid plan has, is drawn too.
func Plan(g Graph) template.HTML {
	if g.tooLarge() {
		return refusal(g)
	}
	return write(g, layoutPlan(g), true)
}

// Machine draws states at their stored positions, or in layers from the start if
// positions are missing or overlap.
func Machine(g Graph) template.HTML {
	if g.tooLarge() {
		return refusal(g)
	}
	return write(g, layoutMachine(g), false)
}

func (g Graph) tooLarge() bool { return len(g.Nodes) > MaxNodes || len(g.Edges) > MaxEdges }
