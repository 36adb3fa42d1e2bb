package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// The kernel sends the signal Pdeathsig to a child when the thread that started it ends. The
// main goroutine is locked to its thread, which lives as long as the process.
func init() { runtime.LockOSThread() }

// launch makes a command that ends with this process, also if this process is killed. Unless
// trace is "", strace writes the command's syncs to that file. It slows the command down only
// a little, since a seccomp filter stops it at these system calls alone.
func launch(trace, program string, arguments ...string) *exec.Cmd {
	if trace != "" {
		arguments = append([]string{"-D", "-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", trace, program}, arguments...)
		program = "strace"
	}
	c := exec.Command(program, arguments...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// tracedSyncs counts the syncs in a trace. If another process syncs before a sync has
// returned, strace writes the latter as two lines; the second one has no parenthesis after
// the name of the call, so it isn't counted.
func tracedSyncs(trace string) (int, error) {
	doc, err := os.ReadFile(trace)
	return bytes.Count(doc, []byte("sync(")), err
}

// end sends a signal to a process and waits until it has exited. kill ends a process that
// may not have been started or may have exited.
func end(c *exec.Cmd, signal syscall.Signal) error {
	if err := c.Process.Signal(signal); err != nil {
		return err
	}
	return c.Wait()
}

func kill(c *exec.Cmd) {
	if c != nil && c.Process != nil && c.ProcessState == nil {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}
