package countersign

// Identity is who a caller is by an issuer's token: a claim of it and the claim's value.
type Identity struct {
	Issuer string `json:"issuer" doc:"the token's iss, character for character"`
	Claim  string `json:"claim" doc:"sub, azp, client_id, act.sub, or an https:// name"`
	Value  string `json:"value"`
}

// OnBehalfOf is the person for whom an agent acts, by the issuer's word.
type OnBehalfOf struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject" doc:"the token's sub"`
	Email   string `json:"email,omitempty" doc:"only where the issuer has verified it"`
}

// Shown is the person in one line, all of it.
func (o OnBehalfOf) Shown() string {
	who := o.Subject + " at " + o.Issuer
	if o.Email != "" {
		return o.Email + " (" + who + ")"
	}
	return who
}

// Shown is an identity in one line.
func (i Identity) Shown() string { return i.Issuer + " " + i.Claim + "=" + i.Value }

// BehindWords says for whom an agent asked, and whether this service knows who that is; "" where
// nobody stands behind it.
func (a *Approval) BehindWords() string {
	switch {
	case a.OnBehalfOf == nil:
		return ""
	case a.BehindUnknown:
		return a.OnBehalfOf.Shown() + ", whom this service doesn't know and who could be whoever decides"
	}
	return a.OnBehalfOf.Shown()
}

// AgentIdentity is an identity by which callers are an agent.
type AgentIdentity struct {
	Issuer string   `json:"issuer" minLength:"1" maxLength:"500" doc:"the issuer's address, as its tokens have it in iss"`
	Claim  string   `json:"claim" minLength:"1" maxLength:"200" doc:"sub, azp, client_id, act.sub, or an https:// name. Where it isn't sub, the token's sub is the person on whose behalf the agent acts"`
	Value  string   `json:"value" minLength:"1" maxLength:"500"`
	Modes  []string `json:"modes,omitempty" null:"refused" minItems:"1" maxItems:"2" nullable:"false" enum:"DRY_RUN,LIVE" doc:"absent: both"`
}

// Identity is who the caller is.
func (i AgentIdentity) Identity() Identity { return Identity{i.Issuer, i.Claim, i.Value} }

// MaxIdentities is how many identities an agent has at most.
const MaxIdentities = 100

// IdentitiesWrite is the body of PUT /agents/{id}/identities. The agent's other members are
// accepted and ignored, so that a client may send back what it read.
type IdentitiesWrite struct {
	Identities       []AgentIdentity `json:"identities" nullable:"false" maxItems:"100" doc:"all that the agent has from now on; one that isn't here any more ends at once"`
	Modes            []string        `json:"modes,omitempty" null:"refused" minItems:"1" maxItems:"2" nullable:"false" enum:"DRY_RUN,LIVE" doc:"of those identities that name none; absent: both, as far as the caller has them"`
	ExpectedRevision int64           `json:"expectedRevision,omitempty" minimum:"0" doc:"the present identitiesRevision"`

	ID                 Value `json:"id,omitzero" doc:"ignored"`
	ProjectID          Value `json:"projectId,omitzero" doc:"ignored"`
	ExternalAgentID    Value `json:"externalAgentId,omitzero" doc:"ignored"`
	SourceRevision     Value `json:"sourceRevision,omitzero" doc:"ignored"`
	Revision           Value `json:"revision,omitzero" doc:"ignored"`
	Name               Value `json:"name,omitzero" doc:"ignored"`
	Role               Value `json:"role,omitzero" doc:"ignored"`
	Goal               Value `json:"goal,omitzero" doc:"ignored"`
	Capabilities       Value `json:"capabilities,omitzero" doc:"ignored"`
	ExecutorInputs     Value `json:"executorInputs,omitzero" doc:"ignored"`
	ModelID            Value `json:"modelId,omitzero" doc:"ignored"`
	Status             Value `json:"status,omitzero" doc:"ignored"`
	Suspended          Value `json:"suspended,omitzero" doc:"ignored"`
	Retired            Value `json:"retired,omitzero" doc:"ignored"`
	Budgets            Value `json:"budgets,omitzero" doc:"ignored"`
	Liveness           Value `json:"liveness,omitzero" doc:"ignored"`
	LastHeartbeatAt    Value `json:"lastHeartbeatAt,omitzero" doc:"ignored"`
	CreatedAt          Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt          Value `json:"updatedAt,omitzero" doc:"ignored"`
	IdentitiesRevision Value `json:"identitiesRevision,omitzero" doc:"ignored"`
	Instances          Value `json:"instances,omitzero" doc:"ignored"`
	InstanceCount      Value `json:"instanceCount,omitzero" doc:"ignored"`
}
