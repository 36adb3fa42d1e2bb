package records

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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
