package graph

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

var (
	titlePool = []string{"Read order", "", "Assess return", "Notify the customer of the refund by letter", `<script>&"'`, "退款", "a\x00b\xff", "é́́"}
	labelPool = [][]string{nil, nil, {"orderId"}, {"amount", "currency"}, {"customerReferenceOfTheReturn"}, {"over 200", "/ refund"}, {"not older than thirty days since delivery", "/ ask"}, {""}, {`</text>"'&`}}
	stateSet  = []string{"", "ok", "run", "todo", "past", "here"}
)

// drawGraph makes any graph: cycles, duplicates, loops, edges to nowhere.
func drawGraph(t *rapid.T, most int) Graph {
	g := Graph{ID: rapid.SampledFrom([]string{"g", "", `x" y`}).Draw(t, "id"), Title: rapid.SampledFrom(titlePool).Draw(t, "title")}
	n := rapid.IntRange(0, most).Draw(t, "nodes")
	for i := range n {
		g.Nodes = append(g.Nodes, drawNode(t, i))
	}
	for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
		from, to := rapid.IntRange(0, n).Draw(t, "from"), rapid.IntRange(0, n).Draw(t, "to")
		g.Edges = append(g.Edges, drawEdge(t, from, to))
	}
	return g
}

// drawPlan makes an acyclic graph.
func drawPlan(t *rapid.T, most int) Graph {
	g := Graph{ID: "plan"}
	n := rapid.IntRange(1, most).Draw(t, "nodes")
	for i := range n {
		g.Nodes = append(g.Nodes, drawNode(t, i))
		for range rapid.IntRange(0, min(i, 3)).Draw(t, "depends") {
			g.Edges = append(g.Edges, drawEdge(t, rapid.IntRange(0, i-1).Draw(t, "on"), i))
		}
	}
	return g
}

// drawPlaced makes a graph whose nodes have positions on a coarse grid, each in
// its own place.
func drawPlaced(t *rapid.T, most int) Graph {
	g := drawGraph(t, most)
	cells := rapid.Permutation(cellsOf(6)).Draw(t, "cells")
	for i := range g.Nodes {
		g.Nodes[i].X, g.Nodes[i].Y, g.Nodes[i].Placed = 240*float64(cells[i]%6), 90*float64(cells[i]/6), true
		g.Nodes[i].Y += float64(rapid.IntRange(0, 20).Draw(t, "off"))
	}
	return g
}

func cellsOf(side int) []int {
	cells := make([]int, side*side)
	for i := range cells {
		cells[i] = i
	}
	return cells
}

func drawNode(t *rapid.T, i int) Node {
	return Node{
		ID: fmt.Sprint(i), Title: rapid.SampledFrom(titlePool).Draw(t, "title"), Sub: rapid.SampledFrom(titlePool).Draw(t, "sub"),
		State: rapid.SampledFrom(stateSet).Draw(t, "state"), Icon: rapid.SampledFrom([]string{"", "s-running"}).Draw(t, "icon"),
		Word: "Running", Badge: rapid.SampledFrom([]string{"", "", "1", "123456789"}).Draw(t, "badge"),
		Href:  rapid.SampledFrom([]string{"", "/runs/1?a=b&c=d#s", `javascript:"`}).Draw(t, "href"),
		Start: i == 0, Final: rapid.IntRange(0, 4).Draw(t, "final") == 0,
	}
}

func drawEdge(t *rapid.T, from, to int) Edge {
	return Edge{
		From: fmt.Sprint(from), To: fmt.Sprint(to), Label: rapid.SampledFrom(labelPool).Draw(t, "label"),
		Mono: rapid.Bool().Draw(t, "mono"), Priority: rapid.SampledFrom([]string{"", "0", "12"}).Draw(t, "priority"),
		State: rapid.SampledFrom([]string{"", "done", "now"}).Draw(t, "state"), Href: rapid.SampledFrom([]string{"", "#t"}).Draw(t, "href"),
	}
}

// eachLayout checks all kinds of layouts over random graphs.
func eachLayout(t *testing.T, check func(t *rapid.T, p picture)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			check(t, layoutPlan(drawPlan(t, 30)))
		case 1:
			check(t, layoutPlan(drawGraph(t, 20)))
		case 2:
			check(t, layoutMachine(drawGraph(t, 14)))
		case 3:
			check(t, layoutMachine(drawPlaced(t, 14)))
		default:
			check(t, layoutMachine(drawPlan(t, 40)))
		}
	})
}

// chain is a plan of n steps, each after the one before.
func chain(n int) Graph {
	g := Graph{ID: "chain"}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint(i), Title: fmt.Sprintf("Step %d", i)})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: fmt.Sprint(i - 1), To: fmt.Sprint(i), Label: []string{"orderId"}, Mono: true})
		}
	}
	return g
}

// graphOf makes nodes a, b, c... and edges from words like "ab".
func graphOf(nodes string, edges ...string) Graph {
	g := Graph{ID: "g"}
	for _, r := range nodes {
		g.Nodes = append(g.Nodes, Node{ID: string(r), Title: string(r)})
	}
	for _, e := range edges {
		g.Edges = append(g.Edges, Edge{From: e[:1], To: e[1:]})
	}
	return g
}
