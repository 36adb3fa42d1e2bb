// Package steps reads and shows the steps of plans and teams as a form, and lists those of a plan with what
// the gate says of each.
package steps
