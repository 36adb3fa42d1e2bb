//go:build !unix

package mcpup

import (
	"errors"
	"os/exec"
)

func isolate(_ *exec.Cmd, name, _ string) error {
	if name != "" {
		return errors.ErrUnsupported
	}
	return nil
}

func end(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended
