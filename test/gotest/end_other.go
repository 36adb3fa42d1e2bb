//go:build !unix

package gotest

import (
	"os/exec"
	"syscall"
)

// EndTogether leaves it to the tests' own timeout to end what a command started.
func EndTogether(*exec.Cmd, syscall.Signal) {}

// KillGroup does nothing, for the same reason.
func KillGroup(*exec.Cmd) {}
