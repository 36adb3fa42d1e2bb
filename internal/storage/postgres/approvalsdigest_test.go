package postgres

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestApprovalsOfAnEarlierReleaseAreFoundByTheirDigest: a database from before the column.
func TestApprovalsOfAnEarlierReleaseAreFoundByTheirDigest(t *testing.T) {
	url := pgtest.Database(t)
	mustClose(t, mustOpen(t, url))
	pgtest.Exec(t, url, `DROP INDEX steps_sent; ALTER TABLE steps DROP COLUMN sent; DROP INDEX approvals_digest; ALTER TABLE approvals DROP COLUMN digest; DROP INDEX approvals_title; ALTER TABLE approvals DROP COLUMN title;
		DELETE FROM goose_db_version WHERE version_id > 6;
		INSERT INTO approvals (tenant, id, version, doc, created, status, run, scope) VALUES
		('acme', 'this', 1, '{"id":"this","inputSnapshot":{"note":"\u0000"},"requestDigest":"d1","requestedBy":"user:ada"}', 1, 'APPROVED', 'run-1', ''),
		('acme', 'another', 1, '{"id":"another","inputSnapshot":{"requestDigest":"d1","requestedBy":"user:ada"},"requestDigest":"d2","requestedBy":"user:ada"}', 1, 'APPROVED', 'run-1', ''),
		('acme', 'said', 1, '{"id":"said","inputSnapshot":{"note":"\"requestDigest\":\"d1\",\"requestedBy\":\""},"requestDigest":"d2","requestedBy":"user:ada"}', 1, 'APPROVED', 'run-1', ''),
		('acme', 'rehearse', 1, '{"id":"rehearse"}', 1, 'APPROVED', 'run-1', '')`)
	var ids []string
	mustDo(t, mustOpen(t, url).View(context.Background(), func(tx store.Tx) error {
		ids = nil
		rows, err := tx.List(store.Approvals, "acme", store.Query{Where: []store.Filter{store.Equal("digest", "d1")}})
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		return err
	}))
	if diff := cmp.Diff([]string{"this"}, ids); diff != "" {
		t.Errorf("approvals of the digest (-), as found (+):\n%s", diff)
	}
}
