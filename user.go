package countersign

import "time"

// User is a person's membership of a tenant (contract 3). The same e-mail may
// belong to several tenants, with roles and projects in each.
type User struct {
	Email         string    `json:"email"`
	TenantID      string    `json:"tenantId"`
	Roles         []Role    `json:"roles" nullable:"false" enum:"ADMIN,OPERATOR,APPROVER,VIEWER"`
	ProjectIDs    []string  `json:"projectIds,omitempty" nullable:"false" doc:"absent: all projects of the tenant"`
	CreatedBy     string    `json:"createdBy"`
	CreatedByName string    `json:"createdByName,omitempty" since:"3" doc:"a token's name, a user's or an agent's"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
	Invited       bool      `json:"invited,omitempty" doc:"belongs to another tenant and has not accepted yet: no user of this one so far"`
}

// UserWrite is the body of PUT /users/{email}. It says what the user has from now
// on. The server's fields are accepted and ignored.
type UserWrite struct {
	Roles      []Role   `json:"roles" minItems:"1" maxItems:"4" nullable:"false" enum:"ADMIN,OPERATOR,APPROVER,VIEWER"`
	ProjectIDs []string `json:"projectIds,omitempty" null:"refused" minItems:"1" maxItems:"1000" nullable:"false" doc:"absent: all projects of the tenant"`
	TenantID   string   `json:"tenantId,omitempty" doc:"another tenant; realm administrators only"`

	Email     Value `json:"email,omitzero" doc:"ignored"`
	CreatedBy Value `json:"createdBy,omitzero" doc:"ignored"`
	CreatedAt Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt Value `json:"updatedAt,omitzero" doc:"ignored"`
	Invited   Value `json:"invited,omitzero" doc:"ignored"`
}

// SignInLinkWrite is the body of POST /users/{email}/sign-in-link.
type SignInLinkWrite struct {
	ExpiresInMinutes int64  `json:"expiresInMinutes,omitzero" minimum:"1" maximum:"1440" doc:"default 15"`
	TenantID         string `json:"tenantId,omitempty" doc:"another tenant than your own"`
}

// SignInLink is the answer of POST /users/{email}/sign-in-link, the only one that shows the
// link. Whoever opens it first and confirms is signed in as the user.
type SignInLink struct {
	URL           string    `json:"url" doc:"shown once; it signs in once, whoever opens it and confirms"`
	Email         string    `json:"email"`
	TenantID      string    `json:"tenantId" doc:"the tenant that its session acts in, and no other"`
	CreatedBy     string    `json:"createdBy" doc:"counts as one person with the link's session where four eyes are asked for"`
	CreatedByName string    `json:"createdByName,omitempty" since:"3" doc:"a token's name, or a user's"`
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
}
