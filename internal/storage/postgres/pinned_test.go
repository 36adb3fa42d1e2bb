package postgres

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestPlansArePinnedOnEmptyTables, also for a large batch: as long as the planner takes a table for empty it would
// rather read it as a whole, and keep that plan while it grows.
func TestPlansArePinnedOnEmptyTables(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	mustDo(t, s.Update(context.Background(), func(store.Tx) error {
		for _, table := range store.Tables() {
			for _, kind := range []sqldoc.Kind{sqldoc.Update, sqldoc.Delete} {
				c := newChange(table, kind, "")
				plan := planOf(t, s.writer.session, c)
				if !strings.Contains(plan, "Index Scan using "+table.Name+"_pkey on "+table.Name+" old") ||
					!strings.Contains(plan, "Index Cond: ((tenant = (given.tenant)::text) AND (id = (given.id)::text))") {
					t.Errorf("%s\n%s", c.text, plan)
				}
			}
		}
		return nil
	}))
}

// planOf is the plan of a prepared statement for 200 rows.
func planOf(t *testing.T, s *session, c change) (plan string) {
	t.Helper()
	var types, values []string
	for _, oid := range c.oids {
		name := map[uint32]string{oidTexts: "text[]", oidIntegers: "bigint[]", oidInteger: "bigint"}[oid]
		types = append(types, name)
		values = append(values, map[uint32]string{oidTexts: "array_fill('a'::text, ARRAY[200])", oidIntegers: "array_fill(1, ARRAY[200])", oidInteger: "200"}[oid])
	}
	_, err := s.run("PREPARE pinned (" + strings.Join(types, ", ") + ") AS " + c.text)
	mustDo(t, err)
	answers := s.wire.Exec(context.Background(), "EXPLAIN EXECUTE pinned ("+strings.Join(values, ", ")+"); DEALLOCATE pinned")
	for answers.NextResult() {
		for reader := answers.ResultReader(); reader.NextRow(); {
			plan += string(reader.Values()[0]) + "\n"
		}
	}
	mustDo(t, answers.Close())
	return plan
}

// TestAServerWithoutTheSettingsIsNotAskedForThem, such as one that only speaks PostgreSQL's
// language.
func TestAServerWithoutTheSettingsIsNotAskedForThem(t *testing.T) {
	url := pgtest.Database(t)
	pgtest.Exec(t, url, `CREATE SCHEMA other; CREATE VIEW other.pg_settings AS SELECT 'plan_cache_mode' AS name;
		DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET search_path = public, other, pg_catalog'; END $$`)
	s := mustOpen(t, url)
	mustIncrement(t, s)
	if got := s.writer.session.locals[len(s.writer.settings.writing()):]; !reflect.DeepEqual(got, locals{{"plan_cache_mode", "force_generic_plan"}}) {
		t.Errorf("the pins are %q", got)
	}
	pgtest.Exec(t, url, `CREATE OR REPLACE VIEW other.pg_settings AS SELECT 'other' AS name`)
	none := mustOpen(t, url)
	mustIncrement(t, none)
	if got := none.writer.session.locals; !reflect.DeepEqual(got, none.writer.settings.writing()) {
		t.Errorf("the settings are %q", got)
	}
}
