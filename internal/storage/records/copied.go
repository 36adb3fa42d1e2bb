package records

import (
	"errors"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Copied is the mark of a store that was copied, or began to be: what is unfinished in it
// goes on in the copy, so no service runs on it any more. It stays behind when the store is
// copied again.
type Copied struct {
	To       string    `json:"to"` // without a password
	At       time.Time `json:"at"`
	Complete bool      `json:"complete,omitempty"` // the copy may be in use
}

var copied = store.Collection[Copied]{Table: store.Meta}

// CopiedID is the id of the mark, under Realm.
const CopiedID = "copied"

// CopiedTo reads the mark, nil if the store has none.
func CopiedTo(tx store.Tx) (*Copied, error) {
	c, _, err := markOfCopy(tx)
	return c, err
}

func markOfCopy(tx store.Tx) (*Copied, int64, error) {
	c, version, err := copied.Get(tx, store.Realm, CopiedID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, 0, nil
	}
	return c, version, err
}

// MarkCopied marks the store.
func MarkCopied(tx store.Tx, c Copied) error {
	_, version, err := markOfCopy(tx)
	if err == nil {
		_, err = copied.Put(tx, store.Realm, CopiedID, &c, version)
	}
	return err
}

// UnmarkCopied takes the mark away. Nothing that was planned before may be sent afterwards.
func UnmarkCopied(tx store.Tx) error { return copied.Delete(tx, store.Realm, CopiedID) }
