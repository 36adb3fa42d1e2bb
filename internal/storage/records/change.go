package records

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Change is a proposed change, with the request that is made again, and by whom.
type Change struct {
	countersign.ProposedChange

	ProjectID string            `json:"projectId,omitempty"` // whoever doesn't reach it sees nothing of the change
	RequestID string            `json:"requestId,omitempty"` // what the path of the request names
	Body      countersign.Value `json:"body"`
	Stood     string            `json:"stood"` // the digest of what stood

	Proposer       access.Requester `json:"proposer"`
	ProposerTenant string           `json:"proposerTenant"` // another one for a realm administrator's
	Admins         []string         `json:"admins"`         // who was an administrator when it was proposed
	Deciders       []Decider        `json:"deciders,omitempty"`
}

// Changes are a tenant's, by an id that orders by time. Few records are of this kind, and each is read by id,
// so they share a table.
var Changes = store.Collection[Change]{Table: store.Meta}

// ChangeID is the id of a change's record.
func ChangeID(id string) string { return "change/" + id }

// AllChanges narrows a tenant's listing to its changes.
func AllChanges() []store.Filter { return idRange("change/", "change0") } // '0' follows '/'

// OpenChange is what is looked at of each open change when another one is proposed.
type OpenChange struct {
	ID        string    `json:"id"`
	By        string    `json:"by"`
	Digest    string    `json:"digest"`
	ExpiresAt time.Time `json:"expiresAt"`
	Approved  bool      `json:"approved,omitempty"` // nobody decides it any more; its proposer makes it
}

// OpenChanges are a tenant's changes that somebody may still act on, oldest first; few, by their bound.
type OpenChanges struct {
	Items []OpenChange `json:"items"`
}

// AllOpenChanges is one record a tenant.
var AllOpenChanges = store.Collection[OpenChanges]{Table: store.Meta}

// OpenChangesID is its id.
const OpenChangesID = "openchanges"
