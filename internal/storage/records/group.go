package records

import (
	"errors"
	"slices"

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

	OnBehalfOf []string `json:"onBehalfOf,omitempty"` // users who had delegated to them, as whose member they decided too

	Door string `json:"door,omitempty"` // by which their decision came: countersign.DoorAPI and others
}

// groupsOf lists which of the named groups a user is a member of at this moment. Who is no
// user of the tenant any more is a member of none, nor is a group that is gone anybody's.
func groupsOf(tx store.Tx, tenant string, named []string, email string) (in []string, err error) {
	if email == "" || len(named) == 0 {
		return nil, nil
	}
	u, _, err := Users.Get(tx, tenant, email)
	if errors.Is(err, store.ErrNotFound) || err == nil && u.Invited {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, id := range named {
		g, _, err := Groups.Get(tx, tenant, GroupID(id))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(g.Members, u.Email) || g.Claim != "" && slices.Contains(u.Claims, g.Claim) {
			in = append(in, id)
		}
	}
	return in, nil
}
