//go:build unix

package gotest

import (
	"os/exec"
	"syscall"
)

// EndTogether puts a command into a new process group, and makes canceling it signal the whole group: if only the go
// command were ended, its tests would continue.
func EndTogether(cmd *exec.Cmd, s syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, s) }
}

// KillGroup kills the remaining processes in the group of a command that has ended.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
