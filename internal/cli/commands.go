package cli

// Commands are the client commands, to be embedded in the program's command
// line. Each is a struct of its own with Run(*Terminal) error.
type Commands struct {
	Login         Login         `cmd:"" group:"Client" help:"Keep a sign-in to a service."`
	Logout        Logout        `cmd:"" group:"Client" help:"Forget a sign-in."`
	Profiles      Profiles      `cmd:"" group:"Client" help:"Show the sign-ins, or choose one."`
	Import        Import        `cmd:"" group:"Files" help:"Make proposals from descriptions of other systems; registers nothing."`
	Models        Models        `cmd:"" group:"Files" help:"Check model files, without a service."`
	CheckReceiver CheckReceiver `cmd:"" group:"Client" help:"Try a project's sandbox: does it verify signatures and keep idempotency keys?"`
}
