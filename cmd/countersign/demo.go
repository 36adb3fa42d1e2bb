package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/server/console"
	"github.com/countersign/countersign/internal/server/httpapi"
	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/demo"
)

// demoCommand shows the main use of the service on real parts without any setup: the service as
// serve runs it, and a project API that it calls (contract 10).
type demoCommand struct {
	Store string `help:"Directory to keep the demo in; one that was killed goes on there. Default: a temporary one." placeholder:"DIR"`
	Yes   bool   `help:"Answer as the second identity instead of asking."`
	Keep  bool   `help:"Leave the service and the shop up until Ctrl-C."`
}

// Run plays the demo.
func (c demoCommand) Run(t *cli.Terminal) error {
	o := demo.Options{Directory: c.Store, Keep: c.Keep, Out: t.Out, Errs: t.Errs}
	if !c.Yes && attended(t.Out) {
		o.Person = t.In
	}
	o.Colour = cli.Watched(t.Out) && !slices.ContainsFunc(t.Environ, refusesColour)
	return demo.Run(t.Context, demoParts(), o)
}

func demoParts() demo.Wiring {
	return demo.Wiring{Version: version, API: httpapi.Prefix, Console: console.Prefix, Open: openForDemo}
}

// openForDemo opens the service as serve does, but ignores the environment: its settings are meant
// for serve.
func openForDemo(ctx context.Context, c demo.ServiceConfig) (demo.Service, error) {
	cfg, err := understand(settings{
		Listen: "127.0.0.1:0", Store: c.Store, BootstrapToken: c.Token, ConnectionOrigins: c.Origin, SigningEnv: c.SecretEnv, StopGrace: c.StopGrace,
	}, []string{c.SecretEnv + "=" + c.Secret})
	if err != nil {
		return demo.Service{}, err
	}
	s, err := open(ctx, cfg, newLog("text", c.Log))
	if err != nil {
		return demo.Service{}, err
	}
	return demo.Service{Address: s.address, Run: s.run, Close: s.close}, nil
}

// refusesColour reports whether an environment variable asks for plain text (no-color.org).
func refusesColour(pair string) bool {
	name, v, _ := strings.Cut(pair, "=")
	return name == "NO_COLOR" && v != "" || name == "TERM" && v == "dumb"
}

// attended reports whether a person is at the terminal, who sees the output and can type. It
// excludes /dev/null, which is a character device like a terminal.
func attended(out io.Writer) bool {
	null, err := os.Stat(os.DevNull)
	if err != nil || !cli.Watched(out) || !cli.Watched(os.Stdin) {
		return false
	}
	for _, f := range []*os.File{out.(*os.File), os.Stdin} {
		if info, err := f.Stat(); err != nil || os.SameFile(info, null) {
			return false
		}
	}
	return true
}
