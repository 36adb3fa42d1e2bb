package cli

// Commands are the client commands, to be embedded in the program's command
// line. Each is a struct of its own with Run(*Terminal) error; a leaf has an
// example of its use, which its help shows.
type Commands struct {
	Login    Login    `cmd:"" group:"Client" help:"Keep a sign-in to a service." example:"login https://countersign.example.com --profile work"`
	Logout   Logout   `cmd:"" group:"Client" help:"Forget a sign-in." example:"logout work"`
	Profiles Profiles `cmd:"" group:"Client" help:"Show the sign-ins, or choose one." example:"profiles work"`

	Projects  Projects  `cmd:"" group:"Client" help:"Project connections: list, show, put, health, enable, disable."`
	Models    Models    `cmd:"" group:"Client" help:"Agent models: list, show, put, suspend, resume, retire; validate, simulate, explore a file."`
	Plans     Plans     `cmd:"" group:"Client" help:"Plans: list, show, compile, create, drift."`
	Runs      Runs      `cmd:"" group:"Client" help:"Runs: list, start, watch, show, cancel, probe, reconcile."`
	Find      Find      `cmd:"" group:"Client" help:"Find runs by an order number, a reference or an idempotency key, and tokens by their name." example:"find A-48213"`
	Approvals Approvals `cmd:"" group:"Client" help:"Approvals: list, show, decide."`
	Agents    Agents    `cmd:"" group:"Client" help:"Agents: list, show, sync, admit, suspend, retire, beat, start."`
	Teams     Teams     `cmd:"" group:"Client" help:"Teams of agents: list, show, put, start, suspend, resume, retire."`
	Webhooks  Webhooks  `cmd:"" group:"Client" help:"Where a tenant is told of events: list, put, delete."`
	Policy    Policy    `cmd:"" group:"Client" help:"Approval policies: what-if."`
	Audit     Audit     `cmd:"" group:"Client" help:"The audit log: list, verify, export."`
	Archive   Archive   `cmd:"" group:"Client" help:"Files of archived runs: verify, show."`
	Tokens    Tokens    `cmd:"" group:"Client" help:"Bearer tokens: list, create, revoke."`
	Users     Users     `cmd:"" group:"Client" help:"A tenant's users: list, put, delete."`
	Tenants   Tenants   `cmd:"" group:"Client" help:"Tenants: list, put."`

	Groups      UserGroups      `cmd:"" group:"Client" help:"Groups of users whom approval rules name: list, put, delete."`
	Delegations UserDelegations `cmd:"" group:"Client" help:"Who decides approvals in whose place: list, put, end."`

	Credentials Credentials `cmd:"" group:"Client" help:"Whose each credential variable is: list, free."`

	Stop     Stop     `cmd:"" group:"Client" help:"Let no LIVE step begin: runs wait until 'go' (ADMIN)." example:"stop --reason 'refunds go to the wrong people'"`
	Go       Go       `cmd:"" group:"Client" help:"Lift a stop: the runs that it held go on by themselves (ADMIN)." example:"go --reason 'the address is mended'"`
	Settings Settings `cmd:"" group:"Client" help:"What the tenant's administrators have set, such as whether approvals are signed with passkeys."`
	Stopped  Stopped  `cmd:"" group:"Client" help:"Say whether LIVE steps may begin." example:"stopped"`

	CheckReceiver CheckReceiver `cmd:"" group:"Client" help:"Try a project's sandbox: does it verify signatures and keep idempotency keys?" example:"check-receiver https://sandbox.example.com --project shop.json --capability refunds.create --yes-this-is-a-sandbox"`

	Import Import `cmd:"" group:"Client" help:"Make proposals from descriptions of other systems; registers nothing."`

	Health     Health     `cmd:"" group:"Client" help:"Ask whether the service is well; exit status 1 where it isn't." example:"health --url https://countersign.example.com"`
	Contract   Contract   `cmd:"" group:"Client" help:"Print what a back end needs to know, as the service publishes it." example:"contract -o json"`
	Completion Completion `cmd:"" group:"Client" help:"Print a script by which a shell completes commands and flags." example:"completion bash"`
}
