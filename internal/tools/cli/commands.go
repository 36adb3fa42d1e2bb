package cli

import (
	"github.com/countersign/countersign/internal/tools/cli/agents"
	"github.com/countersign/countersign/internal/tools/cli/approvals"
	"github.com/countersign/countersign/internal/tools/cli/budgets"
	"github.com/countersign/countersign/internal/tools/cli/changes"
	"github.com/countersign/countersign/internal/tools/cli/evidence"
	"github.com/countersign/countersign/internal/tools/cli/health"
	"github.com/countersign/countersign/internal/tools/cli/importing"
	"github.com/countersign/countersign/internal/tools/cli/models"
	"github.com/countersign/countersign/internal/tools/cli/people"
	"github.com/countersign/countersign/internal/tools/cli/plans"
	"github.com/countersign/countersign/internal/tools/cli/policies"
	"github.com/countersign/countersign/internal/tools/cli/projects"
	"github.com/countersign/countersign/internal/tools/cli/runs"
	"github.com/countersign/countersign/internal/tools/cli/setup"
	"github.com/countersign/countersign/internal/tools/cli/signin"
)

// Commands are the client commands, to be embedded in the program's command
// line. Each is a struct of its own with Run(*Terminal) error; a leaf has an
// example of its use, which its help shows.
type Commands struct {
	Login    signin.Login    `cmd:"" group:"Client" help:"Keep a sign-in to a service." example:"login https://countersign.example.com --profile work"`
	Logout   signin.Logout   `cmd:"" group:"Client" help:"Forget a sign-in." example:"logout work"`
	Profiles signin.Profiles `cmd:"" group:"Client" help:"Show the sign-ins, or choose one." example:"profiles work"`

	Projects  projects.Commands  `cmd:"" group:"Client" help:"Project connections."`
	Models    models.Commands    `cmd:"" group:"Client" help:"Agent models."`
	Plans     plans.Commands     `cmd:"" group:"Client" help:"Plans."`
	Runs      runs.Commands      `cmd:"" group:"Client" help:"Runs."`
	Find      runs.Find          `cmd:"" group:"Client" help:"Find runs by an order number, a reference or an idempotency key, and tokens by their name." example:"find A-48213"`
	Approvals approvals.Commands `cmd:"" group:"Client" help:"Approvals."`
	Waiting   approvals.Waiting  `cmd:"" group:"Client" help:"Say how much waits for you." example:"waiting --follow"`
	Budgets   budgets.Show       `cmd:"" group:"Client" help:"Say what is used of the budgets of a project's capabilities, or of an agent." example:"budgets --project default-shop"`
	Agents    agents.Commands    `cmd:"" group:"Client" help:"Agents."`
	Teams     agents.Teams       `cmd:"" group:"Client" help:"Teams of agents."`
	Webhooks  projects.Webhooks  `cmd:"" group:"Client" help:"Where a tenant is told of events."`
	Policy    policies.Commands  `cmd:"" group:"Client" help:"Approval policies."`
	Archive   evidence.Archive   `cmd:"" group:"Client" help:"Files of archived runs."`
	Tokens    people.Tokens      `cmd:"" group:"Client" help:"Bearer tokens."`
	Users     people.Users       `cmd:"" group:"Client" help:"A tenant's users."`
	Tenants   people.Tenants     `cmd:"" group:"Client" help:"Tenants."`

	Groups      people.Groups      `cmd:"" group:"Client" help:"Groups of users whom approval rules name."`
	Delegations people.Delegations `cmd:"" group:"Client" help:"Who decides approvals in whose place."`
	Changes     changes.Commands   `cmd:"" group:"Client" help:"Changes that weaken what holds calls back, and that several administrators decide."`

	Credentials projects.Credentials `cmd:"" group:"Client" help:"Whose each credential variable is."`

	Stop     runs.Stop       `cmd:"" group:"Client" help:"Let no LIVE step begin: runs wait until 'go' (ADMIN)." example:"stop --reason 'refunds go to the wrong people'"`
	Go       runs.Go         `cmd:"" group:"Client" help:"Lift a stop: the runs that it held go on by themselves (ADMIN)." example:"go --reason 'the address is mended'"`
	Settings people.Settings `cmd:"" group:"Client" help:"What the tenant's administrators have set, such as whether approvals are signed with passkeys."`
	Stopped  runs.Stopped    `cmd:"" group:"Client" help:"Say whether LIVE steps may begin." example:"stopped"`

	CheckReceiver projects.CheckReceiver `cmd:"" group:"Client" help:"Try a project's sandbox: does it verify signatures and keep idempotency keys?" example:"check-receiver https://sandbox.example.com --project shop.json --capability refunds.create --yes-this-is-a-sandbox"`

	Apply  setup.Apply  `cmd:"" group:"Client" help:"Make the service as files say: settings, groups, models, projects, agents, teams, webhooks (ADMIN and OPERATOR)." example:"apply setup --dry-run"`
	Export setup.Export `cmd:"" group:"Client" help:"Write what the service has into files that 'apply' reads (ADMIN)." example:"export setup"`

	Import importing.Commands `cmd:"" group:"Client" help:"Make proposals from descriptions of other systems; registers nothing."`

	Health     health.Health   `cmd:"" group:"Client" help:"Ask whether the service is well; exit status 1 where it isn't." example:"health --url https://countersign.example.com"`
	Contract   health.Contract `cmd:"" group:"Client" help:"Print what a back end needs to know, as the service publishes it." example:"contract -o json"`
	Completion Completion      `cmd:"" group:"Client" help:"Print a script by which a shell completes commands and flags." example:"completion bash"`
}

// NewCommands returns the commands. Those that do the same with each kind of record
// (service/verbs.go) have been told what to ask for and what to print.
func NewCommands() Commands {
	return Commands{
		Projects:    projects.New(),
		Models:      models.New(),
		Agents:      agents.New(),
		Teams:       agents.NewTeams(),
		Plans:       plans.New(),
		Approvals:   approvals.New(),
		Changes:     changes.New(),
		Tenants:     people.NewTenants(),
		Credentials: projects.NewCredentials(),
		Delegations: people.NewDelegations(),
		Groups:      people.NewGroups(),
		Webhooks:    projects.NewWebhooks(),
	}
}
