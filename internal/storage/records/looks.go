package records

import (
	"errors"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// AgentLooks are the reads for preconditions that an agent's steps have let out within the last minute.
type AgentLooks struct {
	At []time.Time `json:"at"`
}

// LooksOfAgents are kept by agent, in the transaction that lets a look out.
var LooksOfAgents = store.Collection[AgentLooks]{Table: store.Meta}

// AgentLooksID is the id of an agent's record.
func AgentLooksID(agentID string) string { return "looks/" + agentID }

// lookWindow is the time within which looks are counted.
const lookWindow = time.Minute

// LooksOf reads the looks of an agent within the minute before now, oldest first.
func LooksOf(tx store.Tx, tenant, agentID string, now time.Time) (at []time.Time, version int64, err error) {
	known, version, err := LooksOfAgents.Get(tx, tenant, AgentLooksID(agentID))
	if errors.Is(err, store.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for _, t := range known.At {
		if t.After(now.Add(-lookWindow)) && !t.After(now.Add(lookWindow)) {
			at = append(at, t)
		}
	}
	return at, version, nil
}

// maxLooksKept bounds the record: what matters is whether there are too many.
const maxLooksKept = 256

// CountLook counts a look of an agent.
func CountLook(tx store.Tx, tenant, agentID string, now time.Time) error {
	at, version, err := LooksOf(tx, tenant, agentID, now)
	if err != nil {
		return err
	}
	at = append(at, now)
	if len(at) > maxLooksKept {
		at = at[len(at)-maxLooksKept:]
	}
	_, err = LooksOfAgents.Put(tx, tenant, AgentLooksID(agentID), &AgentLooks{At: at}, version)
	return err
}
