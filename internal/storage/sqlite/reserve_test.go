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

func init() { children["reserve"] = spendReserve }

// TestOutcomesAreKeptOnAFullDisk fills a small file system for real: what can't
// wait is written into the reserve, everything else waits until there is space
// for the reserve again.
func TestOutcomesAreKeptOnAFullDisk(t *testing.T) {
	cmd := child(t, "reserve", t.TempDir())
	cmd.SysProcAttr = ownMounts()
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM), strings.Contains(string(out), errNoMount.Error()):
		t.Skip("no right to mount")
	case err != nil:
		t.Errorf("%v: %s", err, out)
	}
}

// spendReserve is the child.
func spendReserve(dir string) error {
	if err := mount("none", dir, "tmpfs", 0, "size=40m"); err != nil {
		return err
	}
	s, err := open(context.Background(), dir, withCheckpoints(4000, 1))
	if err != nil {
		return err
	}
	ballast := filepath.Join(dir, "ballast")
	if err := fill(ballast); err != nil {
		return err
	}
	last, err := putUntilFull(s)
	if err != nil {
		return err
	}
	outcome := func(n int) error {
		return s.Update(store.Urgent(context.Background()), func(tx store.Tx) error {
			return tx.Put(store.Steps, "acme", store.Row{ID: fmt.Sprint(n), Keys: []any{"run", int64(n), ""}, Doc: make([]byte, 1<<20)}, 0)
		})
	}
	for n := 1; n <= 4; n++ {
		if err := outcome(n); err != nil {
			return fmt.Errorf("outcome %d on a full disk: %w", n, err)
		}
		if err := putTriple(s, last+1); !errors.Is(err, store.ErrUnavailable) {
			return fmt.Errorf("another Update after outcome %d: %w", n, err)
		}
	}
	if !s.Full() {
		return errors.New("the store doesn't say that it is full")
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	if err := putTriple(s, last+1); err != nil || s.Full() {
		return fmt.Errorf("after space returned: full %t, %w", s.Full(), err)
	}
	// The last try to write rows on the full disk may end after that, and spend the reserve.
	for n := last + 2; !reserveIsThere(dir); n++ {
		if n > last+20 {
			return errors.New("the reserve was not taken up again")
		}
		if err := putTriple(s, n); err != nil {
			return fmt.Errorf("after space returned: %w", err)
		}
	}
	return errors.Join(s.Close(), openAndClose(dir))
}

func reserveIsThere(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, reserveFile))
	return err == nil && info.Size() >= leastReserve
}

// fill writes until the file system has no more space.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = f.Write(make([]byte, 64<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return f.Close()
}
