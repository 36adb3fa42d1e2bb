// Package graph draws a plan's steps and a model's states as SVG for the console
// (design, "Graphs"). It knows boxes and arrows only: the console says what they
// mean, and says the same as text beside the picture.
//
// A drawing is made in two halves. The first is geometry without markup: nodes
// come into columns, what crosses a column without a node of its own gets a lane
// there, what bears a label gets a lane as high as the label, and between two
// columns there is nothing but vertical pieces of edges. So an edge can't pass
// through a node, nor a label lie on one, whatever the input. The second half
// writes the geometry down.
//
// The same input gives the same bytes: there is no clock, no randomness and no
// order of maps in here.
package graph
