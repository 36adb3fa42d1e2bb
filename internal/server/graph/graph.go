package graph

import "html/template"

// What is larger isn't drawn: nobody could read it, and the table beside it says
// the same.
const (
	MaxNodes = 1000
	MaxEdges = 5000
)

// Node is a box. Text is plain; the package escapes it.
type Node struct {
	ID    string // unique; of two equal ones the first is drawn
	Title string
	Sub   string // second line: "POST · 840 ms", or the state's description
	State string // class of the style sheet: ok, run, wait, unc, fail, todo, past, here, ""
	Icon  string // symbol of the sprite without '#', "" for none
	Word  string // accessible name of the icon ("Completed")
	Badge string // number of a finding
	Href  string // where a click goes; "" nowhere

	Dashed, Start, Final bool

	X, Y   float64 // the stored position, for machines
	Placed bool
}

// Edge is an arrow. One that names an unknown node is left out.
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

// Plan draws steps in layers, each right of all that it depends on, and more than
// six layers in rows. A cycle, which no valid plan has, is drawn as well.
func Plan(g Graph) template.HTML {
	if g.tooLarge() {
		return refusal(g)
	}
	return write(g, layoutPlan(g), true)
}

// Machine draws states where they were stored, or in layers from the start when
// some weren't placed or lie on each other.
func Machine(g Graph) template.HTML {
	if g.tooLarge() {
		return refusal(g)
	}
	return write(g, layoutMachine(g), false)
}

func (g Graph) tooLarge() bool { return len(g.Nodes) > MaxNodes || len(g.Edges) > MaxEdges }
