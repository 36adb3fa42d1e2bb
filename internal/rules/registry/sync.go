package registry

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// ID derives the service's id for an agent of a project, so that the agent keeps its
// id forever and concurrent syncs can't create it twice.
func ID(projectID, externalAgentID string) string {
	sum := sha256.Sum256([]byte(projectID + "\n" + externalAgentID)) // a project id holds no line feed
	return "agent-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:20])
}

// Sync applies a manifest item to the stored agent; stored is nil for a new one. An
// unchanged item changes nothing. An older revision, or other content with the same
// revision, is a manifest_conflict. A change makes the agent PENDING; a suspended
// agent stays suspended (contract 7).
func Sync(stored *countersign.Agent, projectID string, item countersign.ManifestAgent, now time.Time) (countersign.Agent, bool, error) {
	next := describe(projectID, item)
	if stored == nil {
		next.Revision, next.Status, next.CreatedAt, next.UpdatedAt = 1, countersign.AgentPending, now, now
		return next, true, nil
	}
	same, err := sameContent(*stored, next)
	switch {
	case err != nil:
		return *stored, false, err
	case item.SourceRevision < stored.SourceRevision:
		return *stored, false, countersign.Errorf(countersign.CodeManifestConflict, "agent %s is at source revision %d, newer than %d; send the present manifest",
			item.ExternalAgentID, stored.SourceRevision, item.SourceRevision)
	case item.SourceRevision > stored.SourceRevision:
	case same:
		return *stored, false, nil
	default:
		return *stored, false, countersign.Errorf(countersign.CodeManifestConflict, "agent %s has other content at source revision %d; raise sourceRevision with each change",
			item.ExternalAgentID, item.SourceRevision)
	}
	next.Revision, next.Status, next.Suspended = stored.Revision+1, countersign.AgentPending, stored.Suspended
	next.Retired, next.CreatedAt, next.UpdatedAt = stored.Retired, stored.CreatedAt, now
	next.Budgets = stored.Budgets // an administrator's, never the manifest's
	return next, true, nil
}

func describe(projectID string, item countersign.ManifestAgent) countersign.Agent {
	a := countersign.Agent{
		ID: ID(projectID, item.ExternalAgentID), ProjectID: projectID, ExternalAgentID: item.ExternalAgentID,
		SourceRevision: item.SourceRevision, Name: item.Name, Role: item.Role, Goal: item.Goal,
		Capabilities: slices.Clone(item.Capabilities), ExecutorInputs: map[string]map[string]countersign.Value{}, ModelID: item.ModelID,
	}
	if a.Capabilities == nil {
		a.Capabilities = []string{}
	}
	for name, fields := range item.ExecutorInputs {
		if len(fields) > 0 { // none fixed and none named are the same
			a.ExecutorInputs[name] = fields
		}
	}
	return a
}

// sameContent compares canonically: numbers by value, keys in any order.
func sameContent(a, b countersign.Agent) (bool, error) {
	x, err := countersign.CanonicalDigest(content(a))
	if err != nil {
		return false, err
	}
	y, err := countersign.CanonicalDigest(content(b))
	return x == y, err
}

func content(a countersign.Agent) any {
	return []any{a.Name, a.Role, a.Goal, a.Capabilities, a.ExecutorInputs, a.ModelID}
}

// Admit makes an agent ADMITTED and ends its suspension. It keeps the revision: plans
// made before a suspension have an older one and never run again.
func Admit(a countersign.Agent, now time.Time) (countersign.Agent, bool) {
	if a.Status == countersign.AgentAdmitted {
		return a, false
	}
	a.Status, a.Suspended, a.UpdatedAt = countersign.AgentAdmitted, false, now
	return a, true
}

// Suspend makes an agent PENDING until it is admitted again, and raises its revision,
// which stops every plan made with it.
func Suspend(a countersign.Agent, now time.Time) (countersign.Agent, bool) {
	if a.Suspended {
		return a, false
	}
	a.Status, a.Suspended, a.UpdatedAt = countersign.AgentPending, true, now
	a.Revision++
	return a, true
}

// Retire hides an agent and raises its revision, which stops every plan made with it.
// It does not change whether the agent is admitted.
func Retire(a countersign.Agent, now time.Time) (countersign.Agent, bool) {
	if a.Retired {
		return a, false
	}
	a.Retired, a.UpdatedAt = true, now
	a.Revision++
	return a, true
}

// Restore undoes Retire but keeps the raised revision.
func Restore(a countersign.Agent, now time.Time) (countersign.Agent, bool) {
	if !a.Retired {
		return a, false
	}
	a.Retired, a.UpdatedAt = false, now
	return a, true
}
