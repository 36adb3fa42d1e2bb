package countersign

import "time"

// AllTenants names every tenant of the installation in StopWrite.
const AllTenants = "*"

// StopWrite is the body of POST /stop and POST /go.
type StopWrite struct {
	Reason   string `json:"reason" doc:"never blank"`
	TenantID string `json:"tenantId,omitempty" doc:"absent: the caller's own; another, or * for all, is for realm administrators only"`
}

// Stop keeps LIVE steps from beginning: those of one tenant, or all.
type Stop struct {
	TenantID string    `json:"tenantId" doc:"* for all tenants"`
	Since    time.Time `json:"since"`
	By       string    `json:"by"`
	ByName   string    `json:"byName,omitempty" doc:"a token's name or a user's, where it is one of the reader's tenant"`
	Reason   string    `json:"reason"`
}

// StopState says whether LIVE steps of a tenant may begin. Its own stop and that of all
// tenants are two: each is lifted by its own POST /go.
type StopState struct {
	TenantID string `json:"tenantId" doc:"* for all tenants"`
	Stopped  bool   `json:"stopped"`
	Stops    []Stop `json:"stops" nullable:"false" doc:"those that stand"`
}
