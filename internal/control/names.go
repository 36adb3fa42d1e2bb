package control

import (
	"errors"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// nameOf is what a principal of the tenant is called: a token's name, a user's address,
// an agent's name; "" for the service itself, and for what is gone.
func nameOf(tx store.Tx, tenant, principal string) (name string, err error) {
	kind, id, _ := strings.Cut(principal, ":")
	switch kind {
	case "user":
		return id, nil
	case "token":
		var rec *records.Token
		if rec, _, err = records.Tokens.Get(tx, tenant, id); err == nil {
			name = rec.Name
		}
	case "agent":
		var head *records.AgentHead
		var agent countersign.Agent
		if head, _, err = records.Agents.Get(tx, tenant, id); err == nil {
			agent, err = agentOf(tx, tenant, head)
			name = agent.Name
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return name, err
}

// nameRun says what who asked for a run is called.
func nameRun(tx store.Tx, tenant string, r *countersign.Run) (err error) {
	r.RequestedByName, err = nameOf(tx, tenant, r.RequestedBy)
	return err
}

// nameApproval says what who asked for an approval and who decided it are called.
func nameApproval(tx store.Tx, tenant string, ap *countersign.Approval) (err error) {
	if ap.RequestedByName, err = nameOf(tx, tenant, ap.RequestedBy); err == nil {
		ap.DecidedByName, err = nameOf(tx, tenant, ap.DecidedBy)
	}
	return err
}
