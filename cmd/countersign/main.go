// Command countersign is the product: one binary that serves the runtime, shows
// it at work (demo) and holds the operator's tools. It is the only place where
// the rooms are wired together.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set by the release build.
var version = "0.1.0-dev"

// The exit statuses (docs/operations.md).
const (
	exitOK       = 0
	exitFailed   = 1 // it ran and something went wrong
	exitUnusable = 2 // it could not start with these settings or arguments
)

// commands is the command line.
type commands struct {
	Serve   serveCommand `cmd:"" help:"Serve the API."`
	Demo    demoCommand  `cmd:"" help:"Run the main job on real parts: a sample shop API, a refund agent, an approval, a lie that is caught."`
	Shop    shopCommand  `cmd:"" help:"Serve the sample shop API by itself, to try the product against."`
	Token   tokenCommand `cmd:"" help:"Tools for tokens on a stopped store."`
	Version struct{}     `cmd:"" help:"Print the version."`
}

// unusable is an error of settings or arguments: one clear line for each.
type unusable struct{ lines []string }

func (u unusable) Error() string { return fmt.Sprint(u.lines) }

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
		return exitFailed
	}
	chosen, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help
	}
	if err != nil {
		fmt.Fprintln(errs, "countersign:", err)
		return exitUnusable
	}
	return report(errs, dispatch(ctx, chosen.Command(), c, environ, out, errs))
}

func dispatch(ctx context.Context, command string, c commands, environ []string, out, errs io.Writer) error {
	switch command {
	case "serve":
		return c.Serve.run(ctx, environ, errs)
	case "demo":
		return c.Demo.run(ctx, environ, out, errs)
	case "shop":
		return c.Shop.run(ctx, environ, out)
	case "token issue":
		return c.Token.Issue.run(ctx, environ, out, errs)
	default:
		fmt.Fprintln(out, version)
		return nil
	}
}

func report(errs io.Writer, err error) int {
	var u unusable
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &u):
		for _, line := range u.lines {
			fmt.Fprintln(errs, "countersign:", line)
		}
		return exitUnusable
	default:
		fmt.Fprintln(errs, "countersign:", err)
		return exitFailed
	}
}
