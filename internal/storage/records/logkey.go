package records

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// LogKey is what the checkpoints of the installation's audit logs are signed with. The seed is a
// secret: it is in no answer, log or audit record.
type LogKey struct {
	Installation string `json:"installation"`
	Epoch        int    `json:"epoch,omitempty"` // 0 is the first
	Seed         []byte `json:"seed"`
}

// Origin names a tenant's log, or the realm's, in its checkpoints.
func (k *LogKey) Origin(log string) string {
	sum := sha256.Sum256([]byte(log))
	origin := "countersign/" + k.Installation + "/" + hex.EncodeToString(sum[:8])
	if k.Epoch > 0 {
		origin += fmt.Sprintf("/%d", k.Epoch)
	}
	return origin
}

// LogKeys are kept under Realm, LogKeyID their only id.
var LogKeys = store.Collection[LogKey]{Table: store.Meta}

// LogKeyID is the id of the record.
const LogKeyID = "log-key"

// Cosigned is a checkpoint of a log with the cosignatures that witnesses have given it.
type Cosigned struct {
	Size       int64     `json:"size"`
	Epoch      int       `json:"epoch,omitempty"`
	Checkpoint string    `json:"checkpoint"` // a signed note
	At         time.Time `json:"at"`         // of the latest cosignature
}

// CosignedHeads are kept under the tenant of the log, or Realm, in the order of their sizes.
var CosignedHeads = store.Collection[Cosigned]{Table: store.Meta}

// cosignedPrefix begins the id of each.
const cosignedPrefix = "cosigned/"

// CosignedID is the id of the one of a size.
func CosignedID(size int64) string { return fmt.Sprintf(cosignedPrefix+"%016d", size) }

// NewestCosigned is the newest one, by a query.
func NewestCosigned() store.Query {
	return store.Query{
		Where: []store.Filter{
			{Column: "id", Op: store.AtLeast, Values: []any{CosignedID(0)}},
			{Column: "id", Op: store.AtMost, Values: []any{cosignedPrefix + "~"}},
		},
		Order: []store.Order{{Column: "id", Descending: true}}, Limit: 1,
	}
}
