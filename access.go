package countersign

import "time"

// Role is what a principal may do; none implies another (contract 3).
type Role string

// The roles.
const (
	RoleAdmin    Role = "ADMIN"
	RoleOperator Role = "OPERATOR"
	RoleApprover Role = "APPROVER"
	RoleViewer   Role = "VIEWER"
)

// Reading is what a reading token reads; it does nothing else (contract 12.7).
type Reading string

// What there is to read. The realm's comes beside one of the others: the figures of the process
// and the installation, the realm's audit log.
const (
	ReadsMetrics Reading = "metrics"
	ReadsAudit   Reading = "audit"
	ReadsRealm   Reading = "realm"
)

// Readings are all of them.
var Readings = []Reading{ReadsMetrics, ReadsAudit, ReadsRealm}

var readingWords = map[Reading]string{ReadsMetrics: "the figures", ReadsAudit: "the audit log", ReadsRealm: "the realm's as well"}

// Words says what it reads.
func (r Reading) Words() string { return readingWords[r] }

// DefaultTenant is created on an empty store.
const DefaultTenant = "default"

// SystemPrincipal is who acts where no person does.
const SystemPrincipal = "system"

// Tenant is one customer of the realm.
type Tenant struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Revision  int64     `json:"revision"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// TenantWrite is the body of PUT /tenants/{id}. The server's fields are
// accepted and ignored.
type TenantWrite struct {
	Name             string `json:"name" minLength:"1"`
	ExpectedRevision int64  `json:"expectedRevision,omitempty" minimum:"0"`

	ID        Value `json:"id,omitzero" doc:"ignored"`
	Revision  Value `json:"revision,omitzero" doc:"ignored"`
	CreatedAt Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt Value `json:"updatedAt,omitzero" doc:"ignored"`
}

// Token is the record of a bearer token; the token itself is shown once, when
// it is made, and only its SHA-256 is kept.
type Token struct {
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	TenantID      string    `json:"tenantId"`
	Roles         []Role    `json:"roles" nullable:"false" enum:"ADMIN,OPERATOR,APPROVER,VIEWER"`
	ProjectIDs    []string  `json:"projectIds,omitempty" nullable:"false" doc:"absent: all projects of the tenant"`
	AgentIDs      []string  `json:"agentIds,omitempty" nullable:"false" doc:"an agent token's: it does what these agents do, and nothing else"`
	Modes         []string  `json:"modes,omitempty" nullable:"false" enum:"DRY_RUN,LIVE" doc:"absent: both"`
	Reads         []Reading `json:"reads,omitempty" nullable:"false" enum:"metrics,audit,realm" since:"3" doc:"a reading token's: it reads this while its maker is ADMIN of the whole tenant, and does nothing else"`
	RenewedAs     string    `json:"renewedAs,omitempty" since:"3" doc:"the token that a reading token was renewed as; it ended within 24 hours"`
	UserEmail     string    `json:"userEmail,omitempty"`
	CreatedBy     string    `json:"createdBy"`
	CreatedByName string    `json:"createdByName,omitempty" since:"3" doc:"a token's name, a user's or an agent's"`
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
	LastUsedAt    time.Time `json:"lastUsedAt,omitzero" doc:"kept coarsely"`
	RevokedAt     time.Time `json:"revokedAt,omitzero"`

	ConfirmedAt time.Time `json:"confirmedAt,omitzero" doc:"when its user confirmed that it is theirs"`
}

// TokenWrite is the body of POST /tokens.
type TokenWrite struct {
	Name          string    `json:"name" minLength:"1"`
	Roles         []Role    `json:"roles,omitempty" minItems:"1" maxItems:"4" nullable:"false" enum:"ADMIN,OPERATOR,APPROVER,VIEWER" doc:"required, unless it reads only"`
	ProjectIDs    []string  `json:"projectIds,omitempty" null:"refused" minItems:"1" maxItems:"1000" nullable:"false" doc:"absent: as far as its maker reaches"`
	AgentIDs      []string  `json:"agentIds,omitempty" null:"refused" minItems:"1" maxItems:"1000" nullable:"false" doc:"makes an agent token, for these agents alone: roles is then OPERATOR, and projectIds absent"`
	Reads         []Reading `json:"reads,omitempty" null:"refused" minItems:"1" maxItems:"3" nullable:"false" enum:"metrics,audit,realm" since:"3" doc:"makes a reading token, instead of roles: the tenant's figures, its audit log, and by a realm administrator the same of the realm; it does nothing else"`
	ExpiresInDays int64     `json:"expiresInDays,omitzero" minimum:"1" maximum:"90" doc:"default 90"`
	UserEmail     string    `json:"userEmail,omitempty" doc:"the user of the tenant who stands behind it"`
	Modes         []string  `json:"modes,omitempty" null:"refused" minItems:"1" maxItems:"2" nullable:"false" enum:"DRY_RUN,LIVE"`
	TenantID      string    `json:"tenantId,omitempty" doc:"realm administrators only"`
}

// NewToken is the answer of POST /tokens, the only one that shows the token.
type NewToken struct {
	TokenRecord
	Secret string `json:"token" doc:"shown once"`
}

// TokenRecord lets NewToken embed the record.
type TokenRecord = Token
