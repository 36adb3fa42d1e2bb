package records

import (
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

// Limit is a part of those who have tried something that is limited: when the
// bucket of each is full again, in microseconds, by the hash of whose it is.
type Limit struct {
	Buckets map[string]int64 `json:"buckets"`
}

// Limits are kept under Realm, where several processes share a store.
var Limits = store.Collection[Limit]{Table: store.Meta}

const firstLimit = "limit/"

// LimitID is the id of a part of a limit.
func LimitID(limit, part string) string { return firstLimit + limit + "/" + part }

// AfterLimit follows the ids of all parts of a limit.
func AfterLimit(limit string) string { return firstLimit + limit + "0" } // '0' follows '/'

// IsLimitID reports the id of a part of a limit.
func IsLimitID(id string) bool { return strings.HasPrefix(id, firstLimit) }
