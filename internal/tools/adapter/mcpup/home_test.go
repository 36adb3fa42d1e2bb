package mcpup

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// stands reports that there is something at this path.
func stands(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// TestWhatAKilledProcessLeftIsRemovedByTheNext, and nothing else: neither what a process that lives holds, nor what
// only has such a name.
func TestWhatAKilledProcessLeftIsRemovedByTheNext(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	left, link, file, other := filepath.Join(dir, homePrefix+"1"), filepath.Join(dir, homePrefix+"2"), filepath.Join(dir, homePrefix+"3"), filepath.Join(dir, "other")
	for _, path := range []string{filepath.Join(left, ".npm", "logs"), other} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(other, link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	first, err := newHome()
	if err != nil {
		t.Fatal(err)
	}
	second, err := newHome()
	if err != nil {
		t.Fatal(err)
	}
	if stands(t, left) {
		t.Error("what was left stands")
	}
	for _, path := range []string{first.path, second.path, link, file, other} {
		if !stands(t, path) {
			t.Errorf("%s is gone", path)
		}
	}
	first.remove()
	second.remove()
	if stands(t, first.path) || stands(t, second.path) {
		t.Error("what was removed stands")
	}
}

// TestAHomeThatIsMadeIsNobodyElsesToRemove, however many are made and removed at once.
func TestAHomeThatIsMadeIsNobodyElsesToRemove(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				h, err := newHome()
				if err != nil {
					t.Error(err)
					return
				}
				sweepHomes()
				if !stands(t, h.path) {
					t.Errorf("%s is gone", h.path)
					return
				}
				h.remove()
			}
		})
	}
	wait.Wait()
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("%d are left, %v", len(all), err)
	}
}
