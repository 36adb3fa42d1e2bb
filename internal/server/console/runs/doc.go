// Package runs has the pages of runs: the list, a run and its steps, how it is followed live, cancelled and
// started again.
package runs
