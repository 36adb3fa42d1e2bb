package sqlite

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestApprovalsOfAnEarlierReleaseAreFoundByTheirDigest: a store from before the column.
func TestApprovalsOfAnEarlierReleaseAreFoundByTheirDigest(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	older := downTo5(t, dir)
	for id, doc := range map[string]string{
		"this":     `{"id":"this","inputSnapshot":{"note":"\u0000"},"requestDigest":"d1","requestedBy":"user:ada"}`,
		"another":  `{"id":"another","inputSnapshot":{"requestDigest":"d1","requestedBy":"user:ada"},"requestDigest":"d2","requestedBy":"user:ada"}`,
		"said":     `{"id":"said","inputSnapshot":{"note":"\"requestDigest\":\"d1\",\"requestedBy\":\""},"requestDigest":"d2","requestedBy":"user:ada"}`,
		"damaged":  `{"id":"damaged","requestDigest":"d1","requestedBy":"user:ada"`,
		"rehearse": `{"id":"rehearse"}`,
	} {
		_, err := older.Exec("INSERT INTO approvals (tenant, id, version, doc, created, status, run, scope) VALUES ('acme', ?, 1, ?, 1, 'APPROVED', 'run-1', '')", id, doc)
		mustDo(t, err)
	}
	mustDo(t, older.Close())
	var ids []string
	mustDo(t, mustOpen(t, dir).View(context.Background(), func(tx store.Tx) error {
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
