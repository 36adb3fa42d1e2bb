//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// endTogether makes a command the first of its process group, and its end that
// of the whole group.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
