package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func agentPath(id string) string { return "/agents/" + url.PathEscape(id) }

// Synced is the answer of SyncAgents: the manifest's agents as now registered, in the order of
// the manifest.
type Synced struct {
	Items []countersign.Agent `json:"items"`
}

// SyncAgents registers the agents of a system's manifest, all or none (OPERATOR; specification
// 2.14). New and changed agents are PENDING until an ADMIN admits them.
func (c *Client) SyncAgents(ctx context.Context, projectID string, m countersign.Manifest) (*Synced, error) {
	return post[Synced](ctx, c, "/systems/"+url.PathEscape(projectID)+"/agents/sync", m)
}

// Heartbeat reports that an instance of an agent is alive (OPERATOR; specification 2.15). Send
// one about every 30 seconds: see [Client.KeepAlive].
func (c *Client) Heartbeat(ctx context.Context, agentID string, w countersign.Heartbeat) (*countersign.HeartbeatAck, error) {
	return post[countersign.HeartbeatAck](ctx, c, agentPath(agentID)+"/heartbeat", w)
}

// AgentFilter selects the agents to list.
type AgentFilter struct {
	Paging
	ProjectID string
	Status    countersign.AgentStatus
}

// Agents lists the agents in scope, by id.
func (c *Client) Agents(ctx context.Context, f AgentFilter) (*countersign.Page[countersign.Agent], error) {
	q := f.query()
	set(q, "projectId", f.ProjectID)
	set(q, "status", string(f.Status))
	return list[countersign.Agent](ctx, c, "/agents", q)
}

// AllAgents walks all pages of [Client.Agents].
func (c *Client) AllAgents(ctx context.Context, f AgentFilter) iter.Seq2[countersign.Agent, error] {
	return walk(f.Paging, func(p Paging) (*countersign.Page[countersign.Agent], error) {
		f.Paging = p
		return c.Agents(ctx, f)
	})
}

// Agent reads an agent with its instances.
func (c *Client) Agent(ctx context.Context, id string) (*countersign.AgentWithInstances, error) {
	return get[countersign.AgentWithInstances](ctx, c, agentPath(id))
}

// AdmitAgent allows runs of an agent (ADMIN).
func (c *Client) AdmitAgent(ctx context.Context, id string, w countersign.Admission) (*countersign.Agent, error) {
	return post[countersign.Agent](ctx, c, agentPath(id)+"/admit", w)
}

// SaveAgentIdentities says by which tokens of identity providers a caller is the agent (ADMIN).
func (c *Client) SaveAgentIdentities(ctx context.Context, id string, w countersign.IdentitiesWrite) (*countersign.Agent, error) {
	return put[countersign.Agent](ctx, c, agentPath(id)+"/identities", w)
}

// SuspendAgent prevents every further step of an agent's runs (ADMIN).
func (c *Client) SuspendAgent(ctx context.Context, id string, w countersign.Admission) (*countersign.Agent, error) {
	return post[countersign.Agent](ctx, c, agentPath(id)+"/suspend", w)
}

// StartAgentRun runs one capability by an agent (OPERATOR; specification 2.17).
func (c *Client) StartAgentRun(ctx context.Context, agentID string, w countersign.AgentRunStart, options ...StartOption) (*Started, error) {
	return c.start(ctx, agentPath(agentID)+"/runs", w, options)
}
