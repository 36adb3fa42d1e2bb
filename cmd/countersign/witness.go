package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/witness"
)

// witnessCommand is the witness of logs of other installations.
type witnessCommand struct {
	Serve witnessServeCommand `cmd:"" help:"Cosign the audit logs of installations, so that their operator can't rewind one unseen." example:"witness serve --store ./witness --log VKEY"`
}

type witnessServeCommand struct {
	Listen string   `default:"127.0.0.1:8082" help:"Address to listen on. A proxy in front of it speaks TLS."`
	Store  string   `required:"" placeholder:"DIR" help:"Directory of its key and of what it has cosigned. Never restore it from a copy: begin anew with an empty one."`
	Log    []string `required:"" placeholder:"VKEY" sep:"none" help:"A log to cosign, as logKey in GET /v1/integrations/contract says it. Several are several --log."`
	Name   string   `placeholder:"NAME" help:"Name in its vkey, once and for all: a host name or URL without a scheme. Without it one is made."`
}

// Bounds of a connection to a witness: a submission is small and comes at once.
const (
	witnessTimeout    = 10 * time.Second
	witnessHeaderMost = 16 << 10 // bytes
	witnessEnds       = 5 * time.Second
)

// Run serves the witness until it is interrupted.
func (c *witnessServeCommand) Run(t *cli.Terminal) (err error) {
	logs := make([]checkpoint.Key, len(c.Log))
	for i, vkey := range c.Log {
		if logs[i], err = checkpoint.ParseLogKey(vkey); err != nil {
			return cli.Unusablef("--log %s: %v", vkey, err)
		}
	}
	w, err := witness.Open(c.Store, c.Name, logs, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:     witness.Handler(w, slog.New(slog.NewJSONHandler(t.Errs, nil))),
		ReadTimeout: witnessTimeout, WriteTimeout: witnessTimeout, IdleTimeout: time.Minute, MaxHeaderBytes: witnessHeaderMost,
	}
	fmt.Fprintf(t.Out, "witness %s\nlistens on http://%s\n", w.VKey(), listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-t.Context.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context), witnessEnds)
	defer cancel()
	return server.Shutdown(ctx)
}
