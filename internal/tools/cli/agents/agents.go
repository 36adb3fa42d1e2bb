// Package agents has the commands on agents and teams.
package agents

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/budgets"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands are the commands on registered agents (specification 2.14 to 2.17).
type Commands struct {
	List    List                                         `cmd:"" help:"List the agents in scope." example:"agents list --status PENDING"`
	Show    service.Show[countersign.AgentWithInstances] `cmd:"" set:"whose=The agent's" help:"Show an agent and its instances." example:"agents show agt-1"`
	Create  Create                                       `cmd:"" help:"Create an agent in a project, admit it, and create its token, in one command (ADMIN)." example:"agents create refunder --project default-shop --capability refunds.create --reason 'refunds only, each is approved'"`
	Sync    Sync                                         `cmd:"" help:"Sync a system's agents with its manifest, all or nothing (OPERATOR)." example:"agents sync default-shop manifest.json"`
	Admit   Admit                                        `cmd:"" help:"Let an agent run (ADMIN)." example:"agents admit agt-1 --reason 'its manifest was read'"`
	Known   Identities                                   `cmd:"" name:"identities" help:"Show by which tokens of identity providers a caller is an agent, and add or remove some (ADMIN)." example:"agents identities agt-1 --add https://id.example.com#azp=refund-clerk"`
	Suspend Suspend                                      `cmd:"" help:"Stop an agent's runs before their next step (ADMIN)." example:"agents suspend agt-1 --reason 'it refunds twice'"`
	Retire  service.Change[countersign.Agent]            `cmd:"" set:"whose=Its" help:"Hide an agent from lists and refuse anything new made from it; it can still be read and restored (ADMIN)." example:"agents retire agt-1 --reason 'replaced'"`
	Restore service.Change[countersign.Agent]            `cmd:"" set:"whose=Its" help:"Undo a retirement (ADMIN)." example:"agents restore agt-1 --reason 'needed again'"`
	Beat    Beat                                         `cmd:"" help:"Send an instance's heartbeats until interrupted (OPERATOR)." example:"agents beat agt-1 --instance desk-1 --every 30s"`
	Start   Start                                        `cmd:"" help:"Run one capability by an agent (OPERATOR)." example:"agents start agt-1 --capability refunds.create --input orderId=A-1 --input amount:=10 --expect status=refunded --live --watch"`
}

// New returns the commands, with what each asks for and prints.
func New() (c Commands) {
	c.Show = service.Shows((*client.Client).Agent, printAgent)
	c.Retire, c.Restore = service.Changes("retired", (*client.Client).RetireAgent), service.Changes("restored", (*client.Client).RestoreAgent)
	return c
}

// List is the command `agents list`.
type List struct {
	Project string `help:"Only those of this project." placeholder:"ID"`
	Status  string `enum:",PENDING,ADMITTED" default:"" help:"Only PENDING or ADMITTED ones." placeholder:"STATUS"`
	service.Retirees
	service.Listing
}

var agentTable = service.Columns[countersign.Agent]{
	Heading: []string{"id", "name", "status", "suspended", "liveness", "revision", "project", "model", "capabilities"},
	Row: func(a countersign.Agent) []string {
		return []string{a.ID, a.Name, string(a.Status), words.Yes(a.Suspended), string(a.Liveness), words.Number(a.Revision), a.ProjectID, a.ModelID, strings.Join(a.Capabilities, ", ")}
	},
}

// Run lists the agents.
func (l *List) Run(t *terminal.Terminal) error {
	return service.ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[countersign.Agent], error) {
		p.Retired = l.Retired
		return c.Agents(t.Context, client.AgentFilter{Paging: p, ProjectID: l.Project, Status: countersign.AgentStatus(l.Status)})
	}, service.WithRetired(agentTable, l.Retired, func(x countersign.Agent) bool { return x.Retired }))
}

func printAgent(w io.Writer, a *countersign.AgentWithInstances) {
	terminal.Facts(w, [2]string{"agent", a.ID}, [2]string{"name", a.Name}, [2]string{"role", a.Role}, [2]string{"goal", a.Goal}, [2]string{"status", string(a.Status)},
		[2]string{"suspended", words.Yes(a.Suspended)}, [2]string{"retired", words.Yes(a.Retired)}, [2]string{"liveness", string(a.Liveness)}, [2]string{"last heartbeat", words.Moment(a.LastHeartbeatAt)},
		[2]string{"project", a.ProjectID}, [2]string{"its name there", a.ExternalAgentID}, [2]string{"manifest", fmt.Sprintf("revision %d", a.SourceRevision)},
		[2]string{"revision", words.Number(a.Revision)}, [2]string{"model", a.ModelID}, [2]string{"capabilities", strings.Join(a.Capabilities, ", ")},
		[2]string{"created", words.Moment(a.CreatedAt)}, [2]string{"updated", words.Moment(a.UpdatedAt)})
	for _, name := range a.Capabilities {
		if fixed := a.ExecutorInputs[name]; len(fixed) > 0 {
			fmt.Fprintf(w, "fixed for %s: %s\n", words.Plain(name), words.Value(countersign.ObjectValue(fixed)))
		}
	}
	for _, i := range a.Identities {
		fmt.Fprintf(w, "identity: %s\n", words.Plain(identityWords(i)))
	}
	for _, b := range a.Budgets {
		fmt.Fprintf(w, "budget: %s\n", words.Plain(budgets.Words(b)))
	}
	fmt.Fprintln(w)
	terminal.Table(w, []string{"instance", "state", "liveness", "sequence", "heard"}, service.Rows(a.Instances, func(i countersign.Instance) []string {
		return []string{i.InstanceID, string(i.State), string(i.Liveness), words.Number(i.Sequence), words.Moment(i.ReceivedAt)}
	}))
}

// Sync is the command `agents sync`.
type Sync struct {
	Project string `arg:"" help:"The project that the agents belong to."`
	File    string `arg:"" help:"The manifest as JSON (see /docs/api/types at the service); - is standard input."`
	service.Asking
}

// Run syncs the manifest.
func (s *Sync) Run(t *terminal.Terminal) error {
	var m countersign.Manifest
	if err := typed.ReadDocument(t, s.File, &m); err != nil {
		return err
	}
	return service.ShowRecord(t, s.Asking, func(c *client.Client) (*client.Synced, error) { return c.SyncAgents(t.Context, s.Project, m) },
		func(w io.Writer, synced *client.Synced) {
			terminal.Table(w, agentTable.Heading, service.Rows(synced.Items, agentTable.Row))
		})
}

// Admit is the command `agents admit`.
type Admit struct {
	admission
	Budgets string `help:"Budgets of its LIVE steps: a JSON array, or @FILE; [] takes them away. Default: it keeps those that it has." placeholder:"JSON"`
}

// Run admits the agent.
func (a *Admit) Run(t *terminal.Terminal) error {
	if a.Budgets == "" {
		return a.change(t, (*client.Client).AdmitAgent)
	}
	budgets, err := budgets.Parse("--budgets", a.Budgets)
	if err != nil {
		return err
	}
	return a.change(t, func(c *client.Client, ctx context.Context, id string, w countersign.Admission) (*countersign.Agent, error) {
		w.Budgets = budgets
		return c.AdmitAgent(ctx, id, w)
	})
}

// Suspend is the command `agents suspend`.
type Suspend struct{ admission }

// Run suspends the agent.
func (a *Suspend) Run(t *terminal.Terminal) error {
	return a.change(t, (*client.Client).SuspendAgent)
}

// admission is the flags of the commands that change an agent's admission.
type admission struct {
	ID       string `arg:"" help:"The agent's id."`
	Reason   string `required:"" help:"Why; kept in the audit log."`
	Revision *int64 `help:"Only this revision; else whatever is current." placeholder:"N"`
	service.Asking
}

func (a *admission) change(t *terminal.Terminal, ask func(*client.Client, context.Context, string, countersign.Admission) (*countersign.Agent, error)) error {
	return service.ShowRecord(t, a.Asking, func(c *client.Client) (*countersign.Agent, error) {
		changed, err := ask(c, t.Context, a.ID, countersign.Admission{Reason: a.Reason, ExpectedRevision: a.Revision})
		return changed, service.WithRevision(err)
	}, func(w io.Writer, agent *countersign.Agent) {
		fmt.Fprintf(w, "%s %s, revision %d\n", agent.ID, agent.Status, agent.Revision)
	})
}
