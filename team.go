package countersign

import "time"

// MinTeamMembers is how many different agents a team needs (specification 4,
// rule 3).
const MinTeamMembers = 2

// TeamMember is an agent's part in a team.
type TeamMember struct {
	AgentID string `json:"agentId"`
	Role    string `json:"role" doc:"never blank"`
}

// TeamStep is one call of a team run, carried out by a member (specification
// 2.16).
type TeamStep struct {
	ID            string             `json:"id" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"`
	Name          string             `json:"name"`
	AgentID       string             `json:"agentId" minLength:"1" doc:"a member"`
	Capability    string             `json:"capability" doc:"one that the member has"`
	Input         map[string]Value   `json:"input,omitempty" nullable:"false"`
	DependsOn     []string           `json:"dependsOn,omitempty" nullable:"false"`
	InputBindings map[string]Binding `json:"inputBindings,omitempty" nullable:"false"`
	Expectation   *Expectation       `json:"expectation,omitempty"`
}

// Team is several agents and the steps that they take one after the other.
type Team struct {
	ID        string       `json:"id"`
	Revision  int64        `json:"revision" doc:"1 on create, one more on each update and suspension"`
	Name      string       `json:"name"`
	Members   []TeamMember `json:"members" nullable:"false"`
	Steps     []TeamStep   `json:"steps" nullable:"false"`
	Suspended bool         `json:"suspended"`
	Retired   bool         `json:"retired,omitempty" doc:"true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that"`
	CreatedAt time.Time    `json:"createdAt"`
	UpdatedAt time.Time    `json:"updatedAt"`
}

// TeamWrite is the body of PUT /teams/{id}. The server's fields are accepted and
// ignored.
type TeamWrite struct {
	Name             string       `json:"name" minLength:"1"`
	ExpectedRevision int64        `json:"expectedRevision,omitempty" minimum:"0" doc:"absent or 0 creates; else the current revision"`
	Members          []TeamMember `json:"members" maxItems:"100" nullable:"false" doc:"at least two different ADMITTED agents with models"`
	Steps            []TeamStep   `json:"steps" maxItems:"100" nullable:"false" doc:"at least one"`

	ID        Value `json:"id,omitzero" doc:"ignored"`
	Revision  Value `json:"revision,omitzero" doc:"ignored"`
	Suspended Value `json:"suspended,omitzero" doc:"ignored"`
	Retired   Value `json:"retired,omitzero" doc:"ignored"`
	CreatedAt Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt Value `json:"updatedAt,omitzero" doc:"ignored"`
}

// TeamRunStart is the body of POST /teams/{id}/runs (specification 2.17).
type TeamRunStart struct {
	ExpectedRevision int64                       `json:"expectedRevision" minimum:"0" doc:"the team's current revision"`
	Mode             string                      `json:"mode,omitempty" enum:"DRY_RUN,LIVE" doc:"default DRY_RUN"`
	Inputs           map[string]map[string]Value `json:"inputs,omitzero" nullable:"false" doc:"by step id: fields that override the step's input, but never a fixed one"`
	Reason           string                      `json:"reason,omitempty" maxLength:"1000" doc:"as of POST /runs"`
}
