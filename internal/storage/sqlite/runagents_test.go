package sqlite

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestRunsOfAnEarlierReleaseAreListedByTheirAgent: a store from before the column.
func TestRunsOfAnEarlierReleaseAreListedByTheirAgent(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	older := downTo5(t, dir)
	for id, doc := range map[string]string{
		"own":      `{"id":"own","agentId":"clerk"}`,
		"another":  `{"id":"another","agentId":"clerk2"}`,
		"none":     `{"id":"none","error":"cancelled: \"agentId\":\"clerk\" \u0000","steps":[]}`,
		"damaged":  `{"id":"damaged","agentId":"clerk"`,
		"of nulls": `{"id":"of nulls","error":"\u0000","agentId":"clerk"}`,
	} {
		_, err := older.Exec("INSERT INTO runs (tenant, id, version, doc, created, status, plan, scope) VALUES ('acme', ?, 1, ?, 1, 'READY', 'plan', '')", id, doc)
		mustDo(t, err)
	}
	mustDo(t, older.Close())
	var ids []string
	mustDo(t, mustOpen(t, dir).View(context.Background(), func(tx store.Tx) error {
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
