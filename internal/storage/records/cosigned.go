package records

import (
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Cosigned is a checkpoint of a log with the cosignatures that witnesses have given it.
type Cosigned struct {
	Size       int64     `json:"size"`
	Epoch      int       `json:"epoch,omitempty"`
	Checkpoint string    `json:"checkpoint"` // a signed note
	At         time.Time `json:"at"`         // of the latest cosignature
}

// CosignedHeads are kept under the tenant of the log, or Realm, in the order of their sizes within
// an epoch: in the next one a log may be shorter.
var CosignedHeads = store.Collection[Cosigned]{Table: store.Meta}

// cosignedIn begins the id of each of an epoch.
func cosignedIn(epoch int) string {
	if epoch == 0 {
		return "cosigned/"
	}
	return fmt.Sprintf("cosigned.%d/", epoch)
}

// CosignedID is the id of the one of a size.
func CosignedID(epoch int, size int64) string { return fmt.Sprintf("%s%016d", cosignedIn(epoch), size) }

// NewestCosigned is the newest one of an epoch, by a query.
func NewestCosigned(epoch int) store.Query {
	return store.Query{Where: cosignedFrom(epoch, 0), Order: []store.Order{{Column: "id", Descending: true}}, Limit: 1}
}

// CosignedFrom are so many of an epoch, the oldest first, with a size or more.
func CosignedFrom(epoch int, size int64, most int) store.Query {
	return store.Query{Where: cosignedFrom(epoch, size), Order: []store.Order{{Column: "id"}}, Limit: most}
}

func cosignedFrom(epoch int, size int64) []store.Filter {
	return []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{CosignedID(epoch, size)}},
		{Column: "id", Op: store.AtMost, Values: []any{cosignedIn(epoch) + "~"}},
	}
}

// Rewound says that a log is not what a witness has cosigned, from when that was seen until the
// witness cosigns it again or a new epoch begins.
type Rewound struct {
	Witness string    `json:"witness"` // its vkey
	Log     string    `json:"log"`     // a tenant, or Realm
	How     string    `json:"how"`
	At      time.Time `json:"at"`
}

// Rewinds are kept under Realm, whichever log they are about: one of each log and witness.
var Rewinds = store.Collection[Rewound]{Table: store.Meta}

const rewoundPrefix = "rewound/"

// RewoundID is the id of that of a log by a witness, whose vkey has this hash.
func RewoundID(witness uint32, log string) string {
	return fmt.Sprintf("%s%08x/%s", rewoundPrefix, witness, log)
}

// EachRewound are all of them, by a query.
func EachRewound() store.Query {
	return store.Query{Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{rewoundPrefix}},
		{Column: "id", Op: store.AtMost, Values: []any{rewoundPrefix + "~"}},
	}, Order: []store.Order{{Column: "id"}}}
}
