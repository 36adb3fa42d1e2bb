package cli

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
// have been told what to ask for and what to print.
func NewCommands() Commands {
	return Commands{
		Projects:    newProjects(),
		Models:      newModels(),
		Agents:      newAgents(),
		Teams:       newTeams(),
		Plans:       newPlans(),
		Approvals:   newApprovals(),
		Changes:     newChanges(),
		Tenants:     newTenants(),
		Credentials: newCredentials(),
		Delegations: newDelegations(),
		Groups:      newGroups(),
		Webhooks:    newWebhooks(),
	}
}
