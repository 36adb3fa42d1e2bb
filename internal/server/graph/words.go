package graph

import "strings"

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

// whole is the label on one line, with its priority.
func (e Edge) whole() string {
	words := strings.Join(e.Label, " ")
	if e.Mono {
		words = strings.Join(e.Label, ", ")
	}
	return strings.TrimSpace(strings.TrimSpace(e.Priority) + " " + words)
}

func (n Node) name() string {
	if n.Title == "" {
		return n.ID
	}
	return n.Title
}
