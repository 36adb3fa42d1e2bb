package cli

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// Commands are the client commands, to be embedded in the program's command
// line. Each is a struct of its own with Run(*Terminal) error; a leaf has an
// example of its use, which its help shows.
type Commands struct {
	Login    Login    `cmd:"" group:"Client" help:"Keep a sign-in to a service." example:"login https://countersign.example.com --profile work"`
	Logout   Logout   `cmd:"" group:"Client" help:"Forget a sign-in." example:"logout work"`
	Profiles Profiles `cmd:"" group:"Client" help:"Show the sign-ins, or choose one." example:"profiles work"`

	Projects  Projects  `cmd:"" group:"Client" help:"Project connections."`
	Models    Models    `cmd:"" group:"Client" help:"Agent models."`
	Plans     Plans     `cmd:"" group:"Client" help:"Plans."`
	Runs      Runs      `cmd:"" group:"Client" help:"Runs."`
	Find      Find      `cmd:"" group:"Client" help:"Find runs by an order number, a reference or an idempotency key, and tokens by their name." example:"find A-48213"`
	Approvals Approvals `cmd:"" group:"Client" help:"Approvals."`
	Waiting   Waiting   `cmd:"" group:"Client" help:"Say how much waits for you." example:"waiting --follow"`
	Budgets   Budgets   `cmd:"" group:"Client" help:"Say what is used of the budgets of a project's capabilities, or of an agent." example:"budgets --project default-shop"`
	Agents    Agents    `cmd:"" group:"Client" help:"Agents."`
	Teams     Teams     `cmd:"" group:"Client" help:"Teams of agents."`
	Webhooks  Webhooks  `cmd:"" group:"Client" help:"Where a tenant is told of events."`
	Policy    Policy    `cmd:"" group:"Client" help:"Approval policies."`
	Archive   Archive   `cmd:"" group:"Client" help:"Files of archived runs."`
	Tokens    Tokens    `cmd:"" group:"Client" help:"Bearer tokens."`
	Users     Users     `cmd:"" group:"Client" help:"A tenant's users."`
	Tenants   Tenants   `cmd:"" group:"Client" help:"Tenants."`

	Groups      UserGroups      `cmd:"" group:"Client" help:"Groups of users whom approval rules name."`
	Delegations UserDelegations `cmd:"" group:"Client" help:"Who decides approvals in whose place."`
	Changes     Changes         `cmd:"" group:"Client" help:"Changes that weaken what holds calls back, and that several administrators decide."`

	Credentials Credentials `cmd:"" group:"Client" help:"Whose each credential variable is."`

	Stop     Stop     `cmd:"" group:"Client" help:"Let no LIVE step begin: runs wait until 'go' (ADMIN)." example:"stop --reason 'refunds go to the wrong people'"`
	Go       Go       `cmd:"" group:"Client" help:"Lift a stop: the runs that it held go on by themselves (ADMIN)." example:"go --reason 'the address is mended'"`
	Settings Settings `cmd:"" group:"Client" help:"What the tenant's administrators have set, such as whether approvals are signed with passkeys."`
	Stopped  Stopped  `cmd:"" group:"Client" help:"Say whether LIVE steps may begin." example:"stopped"`

	CheckReceiver CheckReceiver `cmd:"" group:"Client" help:"Try a project's sandbox: does it verify signatures and keep idempotency keys?" example:"check-receiver https://sandbox.example.com --project shop.json --capability refunds.create --yes-this-is-a-sandbox"`

	Apply  Apply  `cmd:"" group:"Client" help:"Make the service as files say: settings, groups, models, projects, agents, teams, webhooks (ADMIN and OPERATOR)." example:"apply setup --dry-run"`
	Export Export `cmd:"" group:"Client" help:"Write what the service has into files that 'apply' reads (ADMIN)." example:"export setup"`

	Import Import `cmd:"" group:"Client" help:"Make proposals from descriptions of other systems; registers nothing."`

	Health     Health     `cmd:"" group:"Client" help:"Ask whether the service is well; exit status 1 where it isn't." example:"health --url https://countersign.example.com"`
	Contract   Contract   `cmd:"" group:"Client" help:"Print what a back end needs to know, as the service publishes it." example:"contract -o json"`
	Completion Completion `cmd:"" group:"Client" help:"Print a script by which a shell completes commands and flags." example:"completion bash"`
}

// NewCommands returns the commands. Those that do the same with each kind of record (verbs.go)
// are told what to ask for and what to print.
func NewCommands() (c Commands) {
	c.Projects.List = retirable((*client.Client).Projects, projectTable, func(p countersign.Project) bool { return p.Retired })
	c.Projects.Show = shows((*client.Client).Project, printProject)
	c.Projects.Retire, c.Projects.Restore = changes("retired", (*client.Client).RetireProject), changes("restored", (*client.Client).RestoreProject)

	c.Models.List = retirable((*client.Client).Models, modelTable, func(m countersign.Model) bool { return m.Retired })
	c.Models.Show = shows((*client.Client).Model, printModel)
	c.Models.Suspend, c.Models.Resume = changes("suspended", (*client.Client).SuspendModel), changes("resumed", (*client.Client).ResumeModel)
	c.Models.Retire, c.Models.Restore = changes("retired", (*client.Client).RetireModel), changes("restored", (*client.Client).RestoreModel)
	modelRevision := func(m *countersign.Model) int64 { return m.Revision }
	c.Models.Suspend.revision, c.Models.Resume.revision = modelRevision, modelRevision

	c.Agents.Show = shows((*client.Client).Agent, printAgent)
	c.Agents.Retire, c.Agents.Restore = changes("retired", (*client.Client).RetireAgent), changes("restored", (*client.Client).RestoreAgent)

	c.Teams.List = retirable((*client.Client).Teams, teamTable, func(x countersign.Team) bool { return x.Retired })
	c.Teams.Show = shows((*client.Client).Team, printTeam)
	c.Teams.Suspend, c.Teams.Resume = changes("suspended", (*client.Client).SuspendTeam), changes("resumed", (*client.Client).ResumeTeam)
	c.Teams.Retire, c.Teams.Restore = changes("retired", (*client.Client).RetireTeam), changes("restored", (*client.Client).RestoreTeam)
	teamRevision := func(x *countersign.Team) int64 { return x.Revision }
	c.Teams.Suspend.revision, c.Teams.Resume.revision = teamRevision, teamRevision

	c.Plans.Show = shows((*client.Client).Plan, printPlan)
	c.Approvals.Show = shows((*client.Client).Approval, printApproval)
	c.Changes.List, c.Changes.Get = lists((*client.Client).Changes, changeTable), shows((*client.Client).Change, printChange)
	c.Tenants.List = lists((*client.Client).Tenants, tenantTable)
	c.Credentials.List = lists((*client.Client).Credentials, credentialTable)
	c.Delegations.List = lists((*client.Client).Delegations, delegationTable)
	c.Groups.List, c.Groups.Delete = lists((*client.Client).Groups, groupTable), shows((*client.Client).DeleteGroup, func(w io.Writer, g *countersign.Group) { fmt.Fprintf(w, "deleted %s\n", g.ID) })
	c.Webhooks.List, c.Webhooks.Delete = lists((*client.Client).Webhooks, webhookTable), shows((*client.Client).DeleteWebhook, func(w io.Writer, x *countersign.Webhook) { fmt.Fprintf(w, "deleted %s\n", x.ID) })
	return c
}
