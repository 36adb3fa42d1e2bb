package graph

import (
	"cmp"
	"strings"
)

// whole is the label on one line, with its priority.
func (e Edge) whole() string {
	words := strings.Join(e.Label, " ")
	if e.Mono {
		words = strings.Join(e.Label, ", ")
	}
	return strings.TrimSpace(strings.TrimSpace(e.Priority) + " " + words)
}

func (n Node) name() string { return cmp.Or(n.Title, n.ID) }
