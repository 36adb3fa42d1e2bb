//go:build linux

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestReadOnlyDirectoryIsRefusedUnchanged opens a store on a read-only mount,
// which stops root as well, in a mount namespace that ends with the child.
func TestReadOnlyDirectoryIsRefusedUnchanged(t *testing.T) {
	for name, prepare := range map[string]func(dir string){
		"empty": func(string) {},
		"store": func(dir string) { s := mustOpen(t, dir); mustPutPair(t, s, 1); mustClose(t, s) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			prepare(dir)
			before := snapshot(t, dir)
			cmd := child(t, "read-only", dir)
			cmd.SysProcAttr = ownMounts()
			out, err := cmd.CombinedOutput()
			switch {
			case errors.Is(err, syscall.EPERM), strings.Contains(string(out), errNoMount.Error()):
				refuseByMode(t, dir)
			case err == nil || !strings.Contains(string(out), "is not writable: read-only file system"):
				t.Errorf("Open on a read-only mount: %v, %q", err, out)
			}
			wantUnchanged(t, dir, before)
		})
	}
}

// ownMounts gives a child mounts of its own, and a user namespace where that
// takes one.
func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	return attr
}

var errNoMount = errors.New("this machine lets nobody mount")

// openReadOnly is the child.
func openReadOnly(dir string) error {
	for _, flags := range []uintptr{syscall.MS_BIND, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY} {
		// Private first, or the mount would be seen outside.
		if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
			return fmt.Errorf("%w: %w", errNoMount, err)
		}
		if err := syscall.Mount(dir, dir, "", flags, ""); err != nil {
			return fmt.Errorf("%w: %w", errNoMount, err)
		}
	}
	return openAndClose(dir)
}

// refuseByMode is for machines where nobody may mount; root passes every mode.
func refuseByMode(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("root, and no right to mount")
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	wantRefused(t, dir, "is not writable: permission denied")
}
