package postgres

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestRunsOfAnEarlierReleaseAreListedByTheirAgent: a database from before the column.
func TestRunsOfAnEarlierReleaseAreListedByTheirAgent(t *testing.T) {
	url := pgtest.Database(t)
	mustClose(t, mustOpen(t, url))
	pgtest.Exec(t, url, `DROP INDEX steps_sent; ALTER TABLE steps DROP COLUMN sent; DROP INDEX runs_agent; ALTER TABLE runs DROP COLUMN agent;
		DROP INDEX approvals_digest; ALTER TABLE approvals DROP COLUMN digest; DROP INDEX approvals_title; ALTER TABLE approvals DROP COLUMN title; DELETE FROM goose_db_version WHERE version_id > 4;
		INSERT INTO runs (tenant, id, version, doc, created, status, plan, scope) VALUES
		('acme', 'own', 1, '{"id":"own","agentId":"clerk"}', 1, 'READY', 'plan', ''),
		('acme', 'another', 1, '{"id":"another","agentId":"clerk2"}', 1, 'READY', 'plan', ''),
		('acme', 'none', 1, '{"id":"none","error":"cancelled: \"agentId\":\"clerk\" \u0000","steps":[]}', 1, 'READY', 'plan', ''),
		('acme', 'of nulls', 1, '{"id":"of nulls","error":"\u0000","agentId":"clerk"}', 1, 'READY', 'plan', '')`)
	var ids []string
	mustDo(t, mustOpen(t, url).View(context.Background(), func(tx store.Tx) error {
		ids = nil
		rows, err := tx.List(store.Runs, "acme", store.Query{Where: []store.Filter{store.Equal("agent", "clerk")}})
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		return err
	}))
	if diff := cmp.Diff([]string{"of nulls", "own"}, ids); diff != "" {
		t.Errorf("the clerk's runs (-), as listed (+):\n%s", diff)
	}
}
