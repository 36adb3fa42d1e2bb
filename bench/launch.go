package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// The kernel ends what was started when the thread that started it ends. main's
// lives as long as we do.
func init() { runtime.LockOSThread() }

// launch makes a command that ends with us, also when we are killed. With a trace
// its syncs are noted there, which costs it little: nothing else is stopped for.
func launch(trace, program string, arguments ...string) *exec.Cmd {
	if trace != "" {
		arguments = append([]string{"-D", "-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", trace, program}, arguments...)
		program = "strace"
	}
	c := exec.Command(program, arguments...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// tracedSyncs counts the syncs in a trace. One that was interrupted by another
// process's has a second line, with its end; that has no parenthesis after its name.
func tracedSyncs(trace string) (int, error) {
	doc, err := os.ReadFile(trace)
	return bytes.Count(doc, []byte("sync(")), err
}

// end asks a process to stop and waits until it has. kill ends it however it stands.
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
