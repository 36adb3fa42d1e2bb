// Command countersign is the product: one binary that serves the runtime, shows
// it at work (demo) and holds the operator's tools. It is the only place where
// the rooms are wired together.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/internal/cli"
)

// version is set by the release build.
var version = "0.1.0-dev"

// commands is the command line.
type commands struct {
	Serve   serveCommand   `cmd:"" group:"Server" help:"Serve the API and the console."`
	Demo    demoCommand    `cmd:"" group:"Server" help:"Run the main job on real parts: a sample shop API, a refund agent, an approval, a lie that is caught."`
	Shop    shopCommand    `cmd:"" group:"Server" help:"Serve the sample shop API by itself, to try the product against."`
	Token   tokenCommand   `cmd:"" group:"Server" help:"Tools for tokens on a stopped store."`
	Backup  backupCommand  `cmd:"" group:"Server" help:"Copy the store to a file, while the service runs, and check the copy."`
	Restore restoreCommand `cmd:"" group:"Server" help:"Make a store of a backup, safe to start."`
	Doctor  doctorCommand  `cmd:"" group:"Server" help:"Check settings, clock, disk, store and connections, and say what to do."`
	Version versionCommand `cmd:"" group:"Server" help:"Print the version."`
	cli.Commands
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(t *cli.Terminal) error {
	fmt.Fprintln(t.Out, version)
	return nil
}

func main() {
	tuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program, without the process around it.
func run(ctx context.Context, args, environ []string, out, errs io.Writer) int {
	var c commands
	exited := -1
	parser, err := kong.New(&c, kong.Name("countersign"), kong.Writers(out, errs), kong.Exit(func(code int) { exited = code }),
		kong.Description("Executes what software agents propose, under control."))
	if err != nil {
		fmt.Fprintln(errs, "countersign:", err)
		return cli.ExitFailed
	}
	chosen, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help
	}
	if err != nil {
		fmt.Fprintln(errs, "countersign:", err)
		return cli.ExitUnusable
	}
	return cli.Report(errs, chosen.Run(&cli.Terminal{Context: ctx, Environ: environ, In: os.Stdin, Out: out, Errs: errs}))
}
