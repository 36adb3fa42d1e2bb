package records

import (
	"errors"
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

// NameOf is what a principal of the tenant is called: a token's name, a user's address,
// an agent's name; "" for the service itself, and for what is gone.
func NameOf(tx store.Tx, tenant, principal string) (name string, err error) {
	kind, id, _ := strings.Cut(principal, ":")
	switch kind {
	case "user":
		return id, nil
	case "token":
		name, err = tokenName(tx, tenant, id)
	case "agent":
		name, err = agentName(tx, tenant, id)
	}
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return name, err
}

// named is the part of a token's or an agent's record that says what it is called: an
// agent's manifest may be long, and every read of a run asks for a name.
type named struct {
	Name string `json:"name"`
}

var (
	tokenNames = store.Collection[named]{Table: store.Tokens}
	agentNames = store.Collection[named]{Table: store.AgentRevisions}
)

func tokenName(tx store.Tx, tenant, id string) (string, error) {
	rec, _, err := tokenNames.Get(tx, tenant, id)
	if err != nil {
		return "", err
	}
	return rec.Name, nil
}

func agentName(tx store.Tx, tenant, id string) (string, error) {
	head, _, err := Agents.Get(tx, tenant, id)
	if err != nil {
		return "", err
	}
	rec, _, err := agentNames.Get(tx, tenant, RevisionID(id, head.Revision))
	if err != nil {
		return "", err
	}
	return rec.Name, nil
}
