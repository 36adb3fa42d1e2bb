package iofaults

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// again runs the test once more in a child process, and returns its output.
func again(t *testing.T, attr *syscall.SysProcAttr) (out string, err error) {
	t.Helper()
	self, err := os.Executable()
	mustDo(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), given+"="+binary)
	cmd.SysProcAttr = attr
	text, err := cmd.CombinedOutput()
	return string(text), err
}
