package manual

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/server/graph"
)

// outside is Mermaid's symbol for a machine's start and end.
const outside = "[*]"

// stateDiagram draws the part of Mermaid's stateDiagram-v2 that the pages use: "A -->
// B: why<br/>or why". Any other diagram stays text.
func stateDiagram(source string) (string, bool) {
	lines := strings.Split(strings.TrimSpace(source), "\n")
	if lines[0] != "stateDiagram-v2" {
		return "", false
	}
	m := machine{at: map[string]int{}}
	for _, line := range lines[1:] {
		from, rest, isMove := strings.Cut(strings.TrimSpace(line), " --> ")
		if !isMove {
			return "", false
		}
		to, why, _ := strings.Cut(rest, ":")
		m.move(from, strings.TrimSpace(to), strings.TrimSpace(why))
	}
	m.ID = "states"
	m.Title = "State diagram"
	m.Description = strconv.Itoa(len(m.Nodes)) + " states and " + strconv.Itoa(len(m.Edges)) + " moves; the text of the page says the same."
	return string(graph.Machine(m.Graph)), true
}

// machine is a graph under construction.
type machine struct {
	graph.Graph
	at map[string]int // state -> its place among the nodes
}

func (m *machine) move(from, to, why string) {
	switch {
	case from == outside:
		m.node(to).Start = true
	case to == outside:
		m.node(from).Final = true
	default:
		m.node(from)
		m.node(to)
		m.Edges = append(m.Edges, graph.Edge{From: from, To: to, Label: strings.Split(why, "<br/>")})
	}
}

func (m *machine) node(name string) *graph.Node {
	i, known := m.at[name]
	if !known {
		i = len(m.Nodes)
		m.at[name] = i
		m.Nodes = append(m.Nodes, graph.Node{ID: name, Title: name})
	}
	return &m.Nodes[i]
}
