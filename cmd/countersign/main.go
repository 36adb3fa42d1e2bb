// Command countersign is the whole product in one binary: the service, the demo and the operator's
// tools. It is the only place where the packages are wired together.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/internal/tools/cli"
)

// commands is the command line.
type commands struct {
	Serve       serveCommand       `cmd:"" group:"Server" help:"Serve the API and the console." example:"serve --listen 127.0.0.1:8080"`
	Demo        demoCommand        `cmd:"" group:"Server" help:"Run the main job on real parts: a sample shop API, a refund agent, an approval, a lie that is caught, a lost reply." example:"demo --yes"`
	Shop        shopCommand        `cmd:"" group:"Server" help:"Serve the sample shop API by itself, to try the product against." example:"shop --listen 127.0.0.1:9090"`
	Token       tokenCommand       `cmd:"" group:"Server" help:"Tools for tokens that need no service."`
	Backup      backupCommand      `cmd:"" group:"Server" help:"Copy the store to a file, while the service runs, and check the copy." example:"backup countersign.backup --store ./countersign-data"`
	CheckBackup checkBackupCommand `cmd:"" group:"Server" help:"Look at a backup, and serve what is in it for reading." example:"check-backup countersign.backup --listen 127.0.0.1:8081"`
	Restore     restoreCommand     `cmd:"" group:"Server" help:"Make a store of a backup, safe to start." example:"restore countersign.backup --store ./restored"`
	Store       storeCommand       `cmd:"" group:"Server" help:"Move a store between a directory and PostgreSQL."`
	Adapter     adapterCommand     `cmd:"" group:"Server" help:"In front of a project's APIs that aren't HTTPS/JSON with a fixed secret: serve, check, resolve, restored."`
	Doctor      doctorCommand      `cmd:"" group:"Server" help:"Check settings, clock, disk, store and connections, and say what to do." example:"doctor --store ./countersign-data"`
	Files       filesCommand       `cmd:"" group:"Server" help:"Print or write the configuration that ships with it: compose, nginx, systemd, Prometheus, Grafana, Helm." example:"files compose.yaml"`
	Witness     witnessCommand     `cmd:"" group:"Server" help:"Cosign the audit logs of other installations."`
	Version     versionCommand     `cmd:"" group:"Server" help:"Print the version and what the binary was made of." example:"version"`
	cli.Commands
	Audit   auditCommand   `cmd:"" group:"Client" help:"The audit log."`
	Receipt receiptCommand `cmd:"" group:"Client" help:"Receipts of runs."`
}

func main() {
	tuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program with its process as arguments.
func run(ctx context.Context, args, environ []string, out, errs io.Writer) int {
	exited := -1
	usage := out
	if len(args) == 0 { // without a command it prints the help and fails
		args, usage = []string{"--help"}, errs
		defer fmt.Fprintln(errs, "\ncountersign: no command was given; try 'countersign demo', or 'countersign login URL' where a service runs")
	}
	if len(args) > 0 && args[0] == "help" { // what newcomers type
		args = append(slices.Clone(args[1:]), "--help")
	}
	parser, err := newParser(usage, errs, func(code int) { exited = code })
	if err != nil {
		fmt.Fprintln(errs, "countersign:", err)
		return cli.ExitFailed
	}
	chosen, err := parser.Parse(args)
	switch {
	case exited >= 0 && usage == errs:
		return cli.ExitUnusable
	case exited >= 0:
		return exited // --help
	case err != nil:
		return cli.Report(errs, cli.Unusablef("%v; see countersign %s--help", err, selected(err)))
	}
	if err := cli.Given(chosen); err != nil {
		return cli.Report(errs, err)
	}
	return cli.Report(errs, chosen.Run(&cli.Terminal{Context: ctx, Environ: environ, In: os.Stdin, Out: out, Errs: errs}))
}

func newParser(out, errs io.Writer, exit func(int)) (*kong.Kong, error) {
	all := &commands{Commands: cli.NewCommands()}
	all.Settings.BreakGlass.Take = breakGlass
	return kong.New(all, kong.Name("countersign"), kong.Writers(out, errs), kong.Exit(exit), kong.Help(cli.Help), kong.ExplicitGroups(cli.Groups), kong.PostBuild(cli.NameVerbs),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: helpWidth}),
		kong.Description("Executes what software agents propose, under control."))
}

const helpWidth = 110

// selected is the command in which a parse error occurred, followed by a space.
func selected(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil && wrong.Context.Selected() != nil {
		return strings.TrimPrefix(wrong.Context.Selected().FullPath(), "countersign ") + " "
	}
	return ""
}
