package harness

import (
	"slices"
	"sync"
	"testing"
)

// ofDirectories are the tests that OnlyDirectory skipped in this run.
var ofDirectories struct {
	sync.Mutex
	names []string
}

// OnlyDirectory says that a test is about a store in a directory: its files, its lock, its backups. If
// each server has a database instead, the test ends at once, and the run must account for it: see
// OfDirectories.
func OnlyDirectory(t testing.TB) {
	t.Helper()
	if OnDatabase == nil {
		return
	}
	ofDirectories.Lock()
	ofDirectories.names = append(ofDirectories.names, t.Name())
	ofDirectories.Unlock()
	t.SkipNow()
}

// OfDirectories are the sorted names of the tests that OnlyDirectory ended.
func OfDirectories() []string {
	ofDirectories.Lock()
	defer ofDirectories.Unlock()
	return slices.Sorted(slices.Values(ofDirectories.names))
}
