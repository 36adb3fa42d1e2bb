package records

import (
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

// Replica is a process that drives runs on a store which it shares with others. It
// is alive as long as its record is there: see package lease.
type Replica struct {
	ID      string `json:"id"`
	Beat    int64  `json:"beat"` // rises while it lives
	Version string `json:"version,omitempty"`
}

// Replicas are kept under Realm.
var Replicas = store.Collection[Replica]{Table: store.Meta}

const (
	firstReplica = "replica/"
	afterReplica = "replica0" // '0' follows '/'
)

// ReplicaID is the id of a process's record.
func ReplicaID(id string) string { return firstReplica + id }

// IsReplicaID reports the id of a process's record.
func IsReplicaID(id string) bool { return strings.HasPrefix(id, firstReplica) }

// AllReplicas lists the processes that have a record.
func AllReplicas(tx store.Tx) ([]Replica, error) {
	return Replicas.List(tx, store.Realm, store.Query{Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{firstReplica}}, {Column: "id", Op: store.AtMost, Values: []any{afterReplica}},
	}})
}
