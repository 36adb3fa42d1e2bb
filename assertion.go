package countersign

import "time"

// What a tenant asks of whoever approves, beside the right to.
const (
	DecisionAssertionNone    = "NONE"
	DecisionAssertionPasskey = "PASSKEY"
)

// TenantSettings are what a tenant's administrators have set for all its projects.
type TenantSettings struct {
	TenantID          string    `json:"tenantId"`
	Revision          int64     `json:"revision" doc:"0 while nobody has set anything"`
	DecisionAssertion string    `json:"decisionAssertion" enum:"NONE,PASSKEY" doc:"PASSKEY: each approval is signed with a passkey of whoever gives it; NONE by default"`
	UpdatedAt         time.Time `json:"updatedAt,omitzero"`

	Weakening  *Weakening  `json:"weakening,omitempty" since:"3" doc:"changes that weaken are proposed, and made once so many administrators have approved; absent: they are made at once"`
	BreakGlass *BreakGlass `json:"breakGlass,omitempty" since:"3" doc:"weakening was taken away on the stopped store, within the last 30 days"`
}

// BreakGlass is told for 30 days: the operator took weakening away by countersign settings break-glass.
type BreakGlass struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// BreakGlassShown is how long each page shows it.
const BreakGlassShown = 30 * 24 * time.Hour

// TenantSettingsWrite is the body of PUT /settings. The server's fields are accepted and
// ignored.
type TenantSettingsWrite struct {
	DecisionAssertion string     `json:"decisionAssertion" enum:"NONE,PASSKEY"`
	Weakening         *Weakening `json:"weakening,omitempty" doc:"absent ends it, which is itself a change that weakens"`
	Reason            string     `json:"reason" doc:"never blank"`
	ExpectedRevision  int64      `json:"expectedRevision,omitempty" minimum:"0" doc:"absent or 0 where nobody has set anything; else the current revision"`

	TenantID   Value `json:"tenantId,omitzero" doc:"ignored"`
	Revision   Value `json:"revision,omitzero" doc:"ignored"`
	UpdatedAt  Value `json:"updatedAt,omitzero" doc:"ignored"`
	BreakGlass Value `json:"breakGlass,omitzero" doc:"ignored"`
}

// SignedAnswer is what a browser answers with a passkey (WebAuthn, navigator.credentials.get):
// its members are base64url without padding.
type SignedAnswer struct {
	CredentialID      string `json:"credentialId" maxLength:"1400"`
	AuthenticatorData string `json:"authenticatorData" maxLength:"2800"`
	ClientDataJSON    string `json:"clientDataJSON" maxLength:"2800" doc:"its bytes, not its text"`
	Signature         string `json:"signature" maxLength:"1400"`
}

// Assertion is a decision's answer with what it is checked by, so that whoever has the
// decision can check it without the service.
type Assertion struct {
	SignedAnswer
	PublicKey    string `json:"publicKey" doc:"of the passkey as it was registered: SubjectPublicKeyInfo, base64url"`
	RPID         string `json:"rpId" doc:"the relying party of the passkey: the name in the service's public address"`
	Registration int64  `json:"registration" doc:"sequence number of the audit record of the passkey's registration"`
}

// PasskeyRegistration is what the audit log keeps of a passkey that was registered. Assertions
// are checked by it.
type PasskeyRegistration struct {
	CredentialID string   `json:"credentialId" doc:"base64url"`
	PublicKey    string   `json:"publicKey" doc:"SubjectPublicKeyInfo, base64url"`
	RPID         string   `json:"rpId"`
	Makers       []string `json:"makers,omitempty" nullable:"false" doc:"who made the sign-in link that began the session in which it was added, nearest first: it may be theirs"`
}
