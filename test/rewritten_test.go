package test

import (
	"context"
	"testing"

	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// rewriteToken changes a token's record in the store of a stopped server.
func (w *world) rewriteToken(t *testing.T, id string, change func(*records.Token)) {
	t.Helper()
	st, err := w.openStopped(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = st.Update(t.Context(), func(tx store.Tx) error {
		rec, version, err := records.Tokens.Get(tx, "default", id)
		if err != nil {
			return err
		}
		change(rec)
		_, err = records.Tokens.Put(tx, "default", id, rec, version)
		return err
	})
	if closing := st.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
}

func (w *world) openStopped(ctx context.Context) (store.Store, error) {
	if w.Shared() {
		return postgres.Open(ctx, w.Settings()["SVC_PLATFORM_STORE"])
	}
	return sqlite.Open(ctx, w.Store)
}
