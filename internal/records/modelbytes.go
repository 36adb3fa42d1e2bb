package records

import (
	"errors"

	"github.com/countersign/countersign/internal/store"
)

// ModelBytes is how many bytes a tenant's models and their revisions take.
type ModelBytes struct {
	Bytes int64 `json:"bytes"`
}

// ModelSizes are kept under Realm.
var ModelSizes = store.Collection[ModelBytes]{Table: store.Meta}

// ModelBytesID is the id of a tenant's.
func ModelBytesID(tenant string) string { return "model-bytes/" + tenant }

// AddModelBytes notes that so many bytes were written, and gives how many there are now.
// Call it after the write: a tenant without a record, of an older release, is counted
// anew.
func AddModelBytes(tx store.Tx, tenant string, bytes int) (int64, error) {
	rec, version, err := ModelSizes.Get(tx, store.Realm, ModelBytesID(tenant))
	switch {
	case errors.Is(err, store.ErrNotFound):
		if rec, err = countModelBytes(tx, tenant); err != nil {
			return 0, err
		}
	case err != nil:
		return 0, err
	default:
		rec.Bytes += int64(bytes)
	}
	_, err = ModelSizes.Put(tx, store.Realm, ModelBytesID(tenant), rec, version)
	return rec.Bytes, err
}

// revisionsAtOnce is how many are in memory while they are counted.
const revisionsAtOnce = 8

func countModelBytes(tx store.Tx, tenant string) (*ModelBytes, error) {
	q, all := store.Query{Limit: revisionsAtOnce}, &ModelBytes{}
	for {
		rows, err := tx.List(store.ModelRevisions, tenant, q)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			all.Bytes += int64(len(row.Doc))
		}
		if len(rows) < revisionsAtOnce {
			return all, nil
		}
		q.Where, q.Offset = []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{rows[len(rows)-1].ID}}}, 1
	}
}
