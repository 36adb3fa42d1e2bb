// Package cli has the client commands: those that talk to a service through the Go SDK, and
// those that work on a file without a service. There is one room for each noun. Commands
// get the process's environment as a [Terminal], end with an error that determines the exit
// status (terminal/exit.go), and print only through [Output], as a table for people or as JSON
// for programs.
package cli
