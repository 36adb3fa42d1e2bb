package people

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
)

// What is shown of a change to whoever decides it: rights, and never a secret.

func rightsShown(roles []countersign.Role, projects []string) countersign.Value {
	return core.Members(map[string]any{"roles": roles, "projectIds": projects})
}

func tokenShown(t countersign.Token) countersign.Value {
	return core.Members(map[string]any{
		"name": t.Name, "roles": t.Roles, "projectIds": t.ProjectIDs, "agentIds": t.AgentIDs, "modes": t.Modes, "userEmail": t.UserEmail,
		"expiresInDays": int64(t.ExpiresAt.Sub(t.CreatedAt).Hours() / 24),
	})
}
