package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestACheckFindsTheDamageThatAStartRefuses, in a store in use too, and changes nothing.
func TestACheckFindsTheDamageThatAStartRefuses(t *testing.T) {
	dir := madeStore(t)
	if whole, err := Check(context.Background(), dir, false); !whole || err != nil {
		t.Fatalf("a whole store: %v, %v", whole, err)
	}
	if whole, err := large().check(context.Background(), dir); whole || err != nil {
		t.Errorf("a large store: %v, %v", whole, err)
	}
	s, err := open(context.Background(), dir, large())
	mustDo(t, err)
	if whole, err := Check(context.Background(), dir, true); !whole || err != nil {
		t.Errorf("a store in use: %v, %v", whole, err)
	}
	mustDo(t, s.Close())
	database := filepath.Join(dir, databaseFile)
	bytes, err := os.ReadFile(database)
	mustDo(t, err)
	bytes[len(bytes)/pageSize/2*pageSize+100] ^= 4
	mustDo(t, os.WriteFile(database, bytes, 0o600))
	if _, err := Check(context.Background(), dir, false); err == nil || !strings.Contains(err.Error(), "is damaged: restore it from a backup") {
		t.Errorf("a damaged store: %v", err)
	}
	if after, err := os.ReadFile(database); err != nil || string(after) != string(bytes) {
		t.Errorf("it changed the file: %v", err)
	}
}
