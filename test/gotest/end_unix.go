//go:build unix

package gotest

import (
	"os/exec"
	"syscall"
)

// EndTogether makes a command the first of its process group, and its end a signal
// to the whole group: the go command, ended alone, lets its tests go on.
func EndTogether(cmd *exec.Cmd, s syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, s) }
}

// KillGroup ends what is left of the group of a command that has ended.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
