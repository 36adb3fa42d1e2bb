package countersign

import "time"

// Credential is a credential variable and the tenant that it belongs to: the one that
// registered it first, or one that the operator's lists name. It never holds the value.
type Credential struct {
	Name     string    `json:"name" doc:"of a server environment variable"`
	TenantID string    `json:"tenantId" doc:"the only tenant that may use it"`
	Origin   string    `json:"origin,omitempty" doc:"the only origin that it may be used at; absent: any"`
	Kinds    []string  `json:"kinds" nullable:"false" enum:"HMAC,BEARER,API_KEY,BASIC" doc:"what the tenant's projects and webhooks use it for"`
	Since    time.Time `json:"since" doc:"when the tenant registered it first"`
	Projects []string  `json:"projects" nullable:"false" doc:"of the tenant, that use it now"`
	Webhooks []string  `json:"webhooks,omitempty" nullable:"false" doc:"of the tenant, that are signed with it now"`
}
