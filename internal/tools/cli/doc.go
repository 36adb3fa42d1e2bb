// Package cli is the command line of those who use a service: the commands that
// talk to one through the Go SDK, and those that work on a file without any. One
// file a noun. Commands get what they need of the process as a [Terminal], say
// how they ended by their error (exit.go), and print through [Output] alone, as a
// table for people or as JSON for programs.
package cli
