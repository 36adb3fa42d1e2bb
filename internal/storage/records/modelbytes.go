package records

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// ModelBytes is how many bytes a tenant's models and their revisions take.
type ModelBytes struct {
	Bytes int64 `json:"bytes"`
	// Upto is there while revisions of an older release are still being counted: those
	// with this id or a lesser one are, the others are not.
	Upto *string `json:"upto,omitempty"`
}

// ModelSizes are kept under Realm.
var ModelSizes = store.Collection[ModelBytes]{Table: store.Meta}

// ModelBytesID is the id of a tenant's.
func ModelBytesID(tenant string) string { return "model-bytes/" + tenant }

// AddModelBytes notes that a revision of so many bytes was written, and gives how many
// there are now. Call it after the write. What an older release left isn't counted here,
// where everybody waits: see NextModels.
func AddModelBytes(tx store.Tx, tenant, revisionID string, bytes int) (int64, error) {
	rec, version, err := ModelSizes.Get(tx, store.Realm, ModelBytesID(tenant))
	if errors.Is(err, store.ErrNotFound) {
		rec, err = noneCounted(tx, tenant, revisionID)
	}
	if err != nil {
		return 0, err
	}
	if rec.Upto == nil || revisionID <= *rec.Upto {
		rec.Bytes += int64(bytes)
	}
	_, err = ModelSizes.Put(tx, store.Realm, ModelBytesID(tenant), rec, version) // also what stays as it is: who counts must notice
	return rec.Bytes, err
}

// noneCounted is the record of a tenant that has none, before the revision that was just
// written: few others are counted at once, many are left to the next start.
func noneCounted(tx store.Tx, tenant, written string) (*ModelBytes, error) {
	rows, err := tx.List(store.ModelRevisions, tenant, store.Query{Limit: revisionsAtOnce + 1})
	if len(rows) > revisionsAtOnce {
		return &ModelBytes{Upto: new(string)}, err
	}
	rec := &ModelBytes{}
	for _, row := range rows {
		if row.ID != written {
			rec.Bytes += int64(len(row.Doc))
		}
	}
	return rec, err
}

const (
	revisionsAtOnce = 8  // in memory while they are counted
	readsInSpan     = 64 // so many times as many are a span
)

// CountedModels is a tenant's record with a span more of its revisions counted. It is
// read in a View, and stored only if the record is still as it was: whoever has written
// meanwhile has changed it.
type CountedModels struct {
	tenant  string
	version int64 // of the record; 0: there was none
	now     ModelBytes
}

// NextModels counts the next span of a tenant's revisions; all says that there are none
// that are not counted.
func NextModels(tx store.Tx, tenant string) (next CountedModels, all bool, err error) {
	rec, version, err := ModelSizes.Get(tx, store.Realm, ModelBytesID(tenant))
	if errors.Is(err, store.ErrNotFound) {
		rec, version, err = &ModelBytes{Upto: new(string)}, 0, nil
	}
	if err != nil || rec.Upto == nil {
		return next, err == nil, err
	}
	next = CountedModels{tenant, version, ModelBytes{Bytes: rec.Bytes, Upto: rec.Upto}}
	for range readsInSpan {
		q := store.Query{Limit: revisionsAtOnce + 1, Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{*next.now.Upto}}}}
		rows, err := tx.List(store.ModelRevisions, tenant, q)
		if err != nil {
			return next, false, err
		}
		if !next.now.add(rows) {
			none := version == 0 && *next.now.Upto == ""
			next.now.Upto = nil
			return next, none, nil
		}
	}
	return next, false, nil
}

// add counts rows, but for the one that was the last before; false: there was none more.
func (m *ModelBytes) add(rows []store.Row) (more bool) {
	for _, row := range rows {
		if row.ID > *m.Upto {
			m.Bytes, m.Upto, more = m.Bytes+int64(len(row.Doc)), &row.ID, true
		}
	}
	return more
}

// Store keeps what was counted, unless the record has changed since.
func (c CountedModels) Store(tx store.Tx) error {
	_, version, err := ModelSizes.Get(tx, store.Realm, ModelBytesID(c.tenant))
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if err != nil || version != c.version {
		return err
	}
	_, err = ModelSizes.Put(tx, store.Realm, ModelBytesID(c.tenant), &c.now, version)
	return err
}
