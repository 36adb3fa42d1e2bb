package countersign

import "time"

// Session is what a browser's session, or a token, may know of itself: GET /session
// (contract 3).
type Session struct {
	Principal  string   `json:"principal" doc:"who acts: user:<e-mail> or token:<id>"`
	Email      string   `json:"email,omitempty" doc:"absent for a token that no user stands behind"`
	TenantID   string   `json:"tenantId" doc:"the tenant that it acts in"`
	Roles      []Role   `json:"roles" nullable:"false" enum:"ADMIN,OPERATOR,APPROVER,VIEWER"`
	ProjectIDs []string `json:"projectIds,omitempty" nullable:"false" doc:"absent: all projects of the tenant"`
	Modes      []string `json:"modes,omitempty" nullable:"false" since:"3" enum:"DRY_RUN,LIVE" doc:"of a token; absent: both"`
	Realm      bool     `json:"realm" doc:"a realm administrator"`
	Tenants    []string `json:"tenants" nullable:"false" doc:"the tenants that the user belongs to; a token acts in one"`
	// Invitations are of tenants that the user may accept in the console.
	Invitations []string `json:"invitations,omitempty" nullable:"false" doc:"the tenants that invite the user, who accepts in the console"`

	// LinkMakers are of the sign-in link that the session began with, or that it owes its
	// passkey to.
	LinkMakers []string `json:"linkMakers,omitempty" nullable:"false" doc:"who made the sign-in link that the session, or the passkey it began with, goes back to, nearest first: it counts as one person with them where four eyes are asked for"`

	ExpiresAt time.Time `json:"expiresAt" doc:"when it ends, however much it is used"`
	CSRFToken string    `json:"csrfToken,omitempty" doc:"the X-CSRF-Token of unsafe requests; absent for a token, which needs none"`
}
