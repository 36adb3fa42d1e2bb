//go:build linux

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

func init() {
	children["read-only"] = openReadOnly
	children["full"] = fillDisk
}

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

// mount mounts where only the calling process sees it.
func mount(source, dir, kind string, flags uintptr, data string) error {
	err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, "")
	if err == nil {
		err = syscall.Mount(source, dir, kind, flags, data)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	return nil
}

// openReadOnly is the child.
func openReadOnly(dir string) error {
	for _, flags := range []uintptr{syscall.MS_BIND, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY} {
		if err := mount(dir, dir, "", flags, ""); err != nil {
			return err
		}
	}
	return openAndClose(dir)
}

// TestStoreOutlivesAFullDisk fills a small file system for real.
func TestStoreOutlivesAFullDisk(t *testing.T) {
	cmd := child(t, "full", t.TempDir())
	cmd.SysProcAttr = ownMounts()
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM), strings.Contains(string(out), errNoMount.Error()):
		t.Skip("no right to mount")
	case err != nil:
		t.Errorf("%v: %s", err, out)
	}
}

// fillDisk is the child: it writes until the disk is full, makes room, and goes on.
func fillDisk(dir string) error {
	if err := mount("none", dir, "tmpfs", 0, "size=3072k"); err != nil {
		return err
	}
	// Without the ballast there is room for the reserve (1 MiB, see refusal), and for the rows
	// that wait until then.
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 3<<19), 0o600); err != nil {
		return err
	}
	s, err := open(context.Background(), dir, withCheckpoints(20, 1))
	if err != nil {
		return err
	}
	last, err := putUntilFull(s)
	if err != nil {
		return err
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	for n := last + 1; n <= last+20; n++ {
		if err := putTriple(s, n); err != nil {
			return fmt.Errorf("after space returned: %w", err)
		}
	}
	if n, err := countTriples(s); n != last+20 || err != nil {
		return fmt.Errorf("%d Updates are there of %d (%w)", n, last+20, err)
	}
	if err := s.Close(); err != nil {
		return err
	}
	return openAndClose(dir)
}

// putUntilFull returns the number of the last Update that was acknowledged.
func putUntilFull(s *Store) (last int, err error) {
	for n := 1; n < 1000; n++ {
		err := putTriple(s, n)
		if err == nil {
			last = n
			continue
		}
		for range 5 { // it stays so, and reads go on
			if err := putTriple(s, n); !errors.Is(err, store.ErrUnavailable) || isFailed(s) {
				return 0, fmt.Errorf("on a full disk: %w, poisoned %t", err, isFailed(s))
			}
			if found, err := countTriples(s); found != last || err != nil {
				return 0, fmt.Errorf("on a full disk %d of %d are there (%w)", found, last, err)
			}
		}
		return last, nil
	}
	return 0, errors.New("the disk didn't fill")
}

func putTriple(s *Store, n int) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		for _, table := range []*store.Table{store.Tenants, store.Claims, store.Meta} {
			row := store.Row{ID: fmt.Sprint(n), Doc: make([]byte, 3000)}
			if err := tx.Put(table, "acme", row, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

func countTriples(s *Store) (n int, err error) {
	err = s.View(context.Background(), func(tx store.Tx) error {
		for _, table := range []*store.Table{store.Tenants, store.Claims, store.Meta} {
			found, err := tx.Count(table, "acme", store.Query{})
			if err != nil || n != 0 && n != found {
				return fmt.Errorf("%d and %d: %w", n, found, err)
			}
			n = found
		}
		return nil
	})
	return n, err
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
	_ = wantRefused(t, dir, "is not writable: permission denied")
}
