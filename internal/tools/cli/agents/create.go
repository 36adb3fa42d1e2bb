package agents

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Create is the command `agents create`: what sync, admit and `tokens create` do one after
// the other, for an agent that no back end describes. Other agents of the project stay as they
// are. Repeating it changes nothing but makes another token.
type Create struct {
	Name       string   `arg:"" help:"The agent's name, and its ID in the project's system."`
	Project    string   `required:"" help:"The project that it belongs to." placeholder:"ID"`
	Capability []string `required:"" sep:"none" help:"What it may do. Repeat it for several." placeholder:"NAME"`
	Reason     string   `required:"" help:"Why it may run; kept in the audit log."`
	Goal       string   `help:"What it is for; default: the reason." placeholder:"TEXT"`
	Mode       []string `enum:"DRY_RUN,LIVE" help:"Limit the token to runs of this mode, DRY_RUN or LIVE; default: both."`
	Days       int64    `help:"How many days the token is valid, 1 to 90; default: 90." placeholder:"N"`
	service.Asking
}

// createdAgent is what the command answers: the agent, its token, shown once, and where an MCP client connects.
type createdAgent struct {
	Agent countersign.Agent    `json:"agent"`
	Token countersign.NewToken `json:"token"`
	MCP   string               `json:"mcp"`
}

// Run makes the agent and its token.
func (a *Create) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, a.Asking, func(c *client.Client) (*createdAgent, error) { return a.create(t, c) }, func(out io.Writer, made *createdAgent) {
		k := made.Token
		terminal.Facts(out, [2]string{"agent", made.Agent.ID}, [2]string{"status", string(made.Agent.Status)}, [2]string{"mcp", made.MCP}, [2]string{"token", k.Secret}, [2]string{"id", k.ID}, [2]string{"expires", words.Moment(k.ExpiresAt)})
		fmt.Fprintln(t.Errs, "The token is shown only once: save it now.")
	})
}

func (a *Create) create(t *terminal.Terminal, c *client.Client) (*createdAgent, error) {
	agent, err := a.register(t, c)
	if err != nil {
		return nil, err
	}
	if agent.Status != countersign.AgentAdmitted {
		if agent, err = c.AdmitAgent(t.Context, agent.ID, countersign.Admission{Reason: a.Reason, ExpectedRevision: &agent.Revision}); err != nil {
			return nil, err
		}
	}
	token, err := c.CreateToken(t.Context, countersign.TokenWrite{
		Name: a.Name, Roles: []countersign.Role{countersign.RoleOperator}, AgentIDs: []string{agent.ID}, Modes: a.Mode, ExpiresInDays: a.Days,
	})
	if err != nil {
		return nil, err
	}
	_, address, err := a.Chosen(t)
	if err != nil {
		return nil, err
	}
	return &createdAgent{Agent: *agent, Token: *token, MCP: strings.TrimSuffix(address, "/") + "/mcp/agents/" + agent.ID}, nil
}

// register syncs a manifest of this agent alone. That is an operator's; an administrator who is
// none makes a token for it, limited to the project, and revokes it at once.
func (a *Create) register(t *terminal.Terminal, c *client.Client) (*countersign.Agent, error) {
	agent, err := a.sync(t, c)
	if countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		return agent, err
	}
	token, err := c.CreateToken(t.Context, countersign.TokenWrite{
		Name: "agents create " + a.Name, Roles: []countersign.Role{countersign.RoleOperator}, ProjectIDs: []string{a.Project}, ExpiresInDays: 1,
	})
	if err != nil {
		return nil, err
	}
	operator, err := a.ClientAs(t, token.Secret)
	if err == nil {
		agent, err = a.sync(t, operator)
	}
	_, revoked := c.RevokeToken(t.Context, token.ID, "")
	return agent, errors.Join(err, revoked)
}

func (a *Create) sync(t *terminal.Terminal, c *client.Client) (*countersign.Agent, error) {
	synced, err := c.SyncAgents(t.Context, a.Project, countersign.Manifest{
		SchemaVersion: countersign.ManifestSchemaVersion,
		Agents: []countersign.ManifestAgent{{
			ExternalAgentID: a.Name, SourceRevision: 1, Name: a.Name, Role: "agent", Goal: words.First(a.Goal, a.Reason), Capabilities: a.Capability,
		}},
	})
	if err != nil {
		return nil, err
	}
	return &synced.Items[0], nil
}
