package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// AgentsCreate is the command `agents create`: what sync, admit and `tokens create` do one after
// the other, for an agent that no back end describes. Other agents of the project stay as they
// are. Repeating it changes nothing but makes another token.
type AgentsCreate struct {
	Name       string   `arg:"" help:"The agent's name, and its ID in the project's system."`
	Project    string   `required:"" help:"The project that it belongs to." placeholder:"ID"`
	Capability []string `required:"" sep:"none" help:"What it may do. Repeat it for several." placeholder:"NAME"`
	Reason     string   `required:"" help:"Why it may run; kept in the audit log."`
	Goal       string   `help:"What it is for; default: the reason." placeholder:"TEXT"`
	Mode       []string `enum:"DRY_RUN,LIVE" help:"Limit the token to runs of this mode, DRY_RUN or LIVE; default: both."`
	Days       int64    `help:"How many days the token is valid, 1 to 90; default: 90." placeholder:"N"`
	Asking
}

// createdAgent is what the command answers: the agent, its token, shown once, and where an MCP client connects.
type createdAgent struct {
	Agent countersign.Agent    `json:"agent"`
	Token countersign.NewToken `json:"token"`
	MCP   string               `json:"mcp"`
}

// Run makes the agent and its token.
func (n *AgentsCreate) Run(t *Terminal) error {
	return show(t, n.Asking, func(c *client.Client) (*createdAgent, error) { return n.create(t, c) }, func(out io.Writer, made *createdAgent) {
		k := made.Token
		Facts(out, [2]string{"agent", made.Agent.ID}, [2]string{"status", string(made.Agent.Status)}, [2]string{"mcp", made.MCP}, [2]string{"token", k.Secret}, [2]string{"id", k.ID}, [2]string{"expires", moment(k.ExpiresAt)})
		fmt.Fprintln(t.Errs, "The token is shown only once: save it now.")
	})
}

func (n *AgentsCreate) create(t *Terminal, c *client.Client) (*createdAgent, error) {
	agent, err := n.register(t, c)
	if err != nil {
		return nil, err
	}
	if agent.Status != countersign.AgentAdmitted {
		if agent, err = c.AdmitAgent(t.Context, agent.ID, countersign.Admission{Reason: n.Reason, ExpectedRevision: &agent.Revision}); err != nil {
			return nil, err
		}
	}
	token, err := c.CreateToken(t.Context, countersign.TokenWrite{
		Name: n.Name, Roles: []countersign.Role{countersign.RoleOperator}, AgentIDs: []string{agent.ID}, Modes: n.Mode, ExpiresInDays: n.Days,
	})
	if err != nil {
		return nil, err
	}
	_, address, err := n.chosen(t)
	if err != nil {
		return nil, err
	}
	return &createdAgent{Agent: *agent, Token: *token, MCP: strings.TrimSuffix(address, "/") + "/mcp/agents/" + agent.ID}, nil
}

// register syncs a manifest of this agent alone. That is an operator's; an administrator who is
// none makes a token for it, limited to the project, and revokes it at once.
func (n *AgentsCreate) register(t *Terminal, c *client.Client) (*countersign.Agent, error) {
	agent, err := n.sync(t, c)
	if countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		return agent, err
	}
	token, err := c.CreateToken(t.Context, countersign.TokenWrite{
		Name: "agents create " + n.Name, Roles: []countersign.Role{countersign.RoleOperator}, ProjectIDs: []string{n.Project}, ExpiresInDays: 1,
	})
	if err != nil {
		return nil, err
	}
	operator, err := n.clientAs(t, token.Secret)
	if err == nil {
		agent, err = n.sync(t, operator)
	}
	_, revoked := c.RevokeToken(t.Context, token.ID, "")
	return agent, errors.Join(err, revoked)
}

func (n *AgentsCreate) sync(t *Terminal, c *client.Client) (*countersign.Agent, error) {
	synced, err := c.SyncAgents(t.Context, n.Project, countersign.Manifest{
		SchemaVersion: countersign.ManifestSchemaVersion,
		Agents: []countersign.ManifestAgent{{
			ExternalAgentID: n.Name, SourceRevision: 1, Name: n.Name, Role: "agent", Goal: first(n.Goal, n.Reason), Capabilities: n.Capability,
		}},
	})
	if err != nil {
		return nil, err
	}
	return &synced.Items[0], nil
}
