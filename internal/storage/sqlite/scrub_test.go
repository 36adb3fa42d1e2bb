package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// large is what a store is taken for that a start doesn't read whole.
func large() settings {
	s := defaults()
	s.wholeAtStart, s.scrubPause = 1, 0
	return s
}

func TestDamageInALargeStoreIsFoundWhileItIsInUse(t *testing.T) {
	dir := madeStore(t)
	database := filepath.Join(dir, databaseFile)
	bytes, err := os.ReadFile(database)
	mustDo(t, err)
	bytes[len(bytes)/pageSize/2*pageSize+100] ^= 4
	mustDo(t, os.WriteFile(database, bytes, 0o600))
	s, err := open(context.Background(), dir, large())
	mustDo(t, err)
	defer func() { _ = s.Close() }()
	if err := s.Failure(); !strings.Contains(err.Error(), "is damaged: restore it from a backup") {
		t.Errorf("the store failed with %v", err)
	}
	if err := s.Update(context.Background(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("an Update gives %v", err)
	}
}

func TestLargeStoreThatIsWholeIsReadToItsEnd(t *testing.T) {
	dir := madeStore(t)
	s, err := open(context.Background(), dir, large())
	mustDo(t, err)
	<-s.scrubber.ended
	mustPutPair(t, s, 4)
	mustDo(t, s.Close())
}

func TestClosingDoesNotWaitForTheWholeStoreToBeRead(t *testing.T) {
	slow := large()
	slow.scrubPause = 24 * time.Hour
	s, err := open(context.Background(), madeStore(t), slow)
	mustDo(t, err)
	mustDo(t, s.Close())
}

func TestLargeStoreThatWasCutIsRefused(t *testing.T) {
	dir := madeStore(t)
	database := filepath.Join(dir, databaseFile)
	cut(t, database, mustStat(t, database).Size()-1)
	if s, err := open(context.Background(), dir, large()); err == nil {
		_ = s.Close()
		t.Error("a database without its last byte was opened")
	}
}
