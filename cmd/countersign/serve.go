package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/countersign/countersign/internal/server/console"
	"github.com/countersign/countersign/internal/server/httpapi"
	"github.com/countersign/countersign/internal/server/manual"
	"github.com/countersign/countersign/internal/tools/cli"
)

// serveCommand serves the API. It needs no file and no flag (contract 10).
type serveCommand struct {
	settings
}

// Run serves until it is stopped.
func (c *serveCommand) Run(t *cli.Terminal) error {
	ctx, errs := t.Context, t.Errs
	cfg, err := understand(c.settings, t.Environ)
	if err != nil {
		return err
	}
	log := newLog(cfg.LogFormat, errs)
	s, err := open(ctx, cfg, log)
	if err != nil {
		return err
	}
	s.greet(errs)
	err = s.run(ctx)
	return errors.Join(err, s.close())
}

// greet prints, as plain lines with any log format, the address of the service and, at the first
// start, how to sign in.
func (s *service) greet(w io.Writer) {
	for _, warning := range s.cfg.Warnings {
		fmt.Fprintln(w, "warning:", warning)
	}
	if exposed(s.cfg.Listen) && s.cfg.CertFile == "" && !strings.HasPrefix(s.cfg.PublicURL, "https://") {
		fmt.Fprintln(w, "WARNING: listening beyond this machine without TLS; tokens travel readable. Set SVC_PLATFORM_TLS_CERT_FILE or put an https SVC_PLATFORM_PUBLIC_URL in front.")
	}
	if s.cfg.MetricsListen != "" && exposed(s.cfg.MetricsListen) {
		fmt.Fprintln(w, "WARNING: SVC_PLATFORM_METRICS_LISTEN is reachable beyond this machine, and whoever reaches it reads the installation's figures without a token. Listen on 127.0.0.1, or let a firewall say who may.")
	}
	fmt.Fprintf(w, "countersign %s, store %s\n", version, shownStore(s.cfg.Store))
	fmt.Fprintf(w, "API at %s%s, its description at %s%s/openapi.json\n", s.openURL(), httpapi.Prefix, s.openURL(), httpapi.Prefix)
	if s.first.Token != "" && s.cfg.BootstrapToken == "" {
		fmt.Fprintf(w, "the store is new; the bootstrap token, shown only once, is\n  %s\n", s.first.Token)
	}
	if s.first.Ignored {
		fmt.Fprintln(w, "warning: SVC_PLATFORM_BOOTSTRAP_TOKEN is ignored: it makes the first token of a new store, and this store has tokens already. Sign in with one of those, or set SVC_PLATFORM_STORE to a new place")
	}
	if s.first.Revoked {
		fmt.Fprintln(w, "warning: the token in SVC_PLATFORM_BOOTSTRAP_TOKEN is revoked, so nobody can sign in with it. Remove the setting")
	}
	fmt.Fprintf(w, "console at %s%s, manual at %s%s\n", s.openURL(), console.Prefix, s.openURL(), manual.Prefix)
	if s.madeAdmin {
		fmt.Fprintf(w, "%s is the first realm administrator; sign in there\n", s.cfg.AdminEmail)
	} else if s.first.Link != "" {
		fmt.Fprintf(w, "to set it up, open this link once, within a day\n  %s%s/setup?link=%s\n", s.openURL(), console.Prefix, s.first.Link)
	}
	if s.figures != nil {
		fmt.Fprintf(w, "figures without a token at http://%s%s\n", s.figures.Addr(), httpapi.FiguresPath)
	}
	fmt.Fprintf(w, "listening on %s\n", s.address)
}

// exposed reports whether other machines can reach a listening address.
func exposed(listen string) bool {
	host, _, _ := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}
