package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestARowThatCannotBeReadAnyMoreStopsNoOtherWrites, though others have changed it in each of
// their batches, so that it is asked for in advance.
func TestARowThatCannotBeReadAnyMoreStopsNoOtherWrites(t *testing.T) {
	url := pgtest.Database(t)
	s, other := mustOpen(t, url), mustOpen(t, url)
	for n := range 3 {
		mustWrite(t, other, "a", fmt.Sprint(n))
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			_, err := read(tx, "a")
			return errors.Join(err, write(tx, "b", fmt.Sprint(n)))
		}))
	}
	mustWrite(t, other, "a", "last")
	pgtest.Exec(t, url, "CREATE FUNCTION trouble(id text) RETURNS text AS $$ BEGIN IF id = 'a' THEN RAISE 'trouble' USING ERRCODE = 'XX001'; END IF; RETURN id; END $$ LANGUAGE plpgsql VOLATILE;"+
		" ALTER TABLE models RENAME TO readable; CREATE VIEW models AS SELECT tenant, id, version, trouble(id) || doc AS doc, retired FROM readable")
	for n := range 4 {
		err := s.Update(context.Background(), func(tx store.Tx) error { return putModel(tx, fmt.Sprint(n)) })
		if n > 1 && err != nil { // those before may have asked for it
			t.Errorf("Update %d: %v", n, err)
		}
	}
}
