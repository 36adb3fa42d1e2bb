package cli

// Commands are the client commands, to be embedded in the program's command
// line. Each is a struct of its own with Run(*Terminal) error.
type Commands struct{}
