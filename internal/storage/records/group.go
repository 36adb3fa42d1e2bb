package records

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Groups are a tenant's groups of users. Few records are of this kind, and they are read by
// id, so they share a table.
var Groups = store.Collection[countersign.Group]{Table: store.Meta}

// GroupID is the id of a group's record.
func GroupID(id string) string { return "group/" + id }

// AllGroups narrows a tenant's listing to its groups.
func AllGroups() []store.Filter { return idRange("group/", "group0") } // '0' follows '/'

// Decider is who gave one of an approval's decisions, so that four eyes can be applied to
// all of them, and membership of groups be looked up, when the next one decides.
type Decider struct {
	access.Requester
	Person string `json:"person,omitempty"` // the user who was known to decide
}
