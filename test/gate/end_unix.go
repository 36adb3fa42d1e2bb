//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// endTogether makes a command the first of its process group, and an interrupt of it
// one of the whole group: the go command, interrupted alone, lets its tests go on.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}

// killGroup ends what is left of the group of a command that was interrupted.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
