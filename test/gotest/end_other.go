//go:build !unix

package gotest

import (
	"os/exec"
	"syscall"
)

// EndTogether does nothing: the tests' own timeout ends what a command started.
func EndTogether(*exec.Cmd, syscall.Signal) {}

// KillGroup does nothing, for the same reason.
func KillGroup(*exec.Cmd) {}
