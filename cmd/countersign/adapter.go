package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/platform/secretfile"
	"github.com/countersign/countersign/internal/tools/adapter/calls"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	"github.com/countersign/countersign/internal/tools/adapter/httpup"
	"github.com/countersign/countersign/internal/tools/adapter/mcpup"
	"github.com/countersign/countersign/internal/tools/adapter/serve"
	"github.com/countersign/countersign/internal/tools/adapter/upstream"
	"github.com/countersign/countersign/internal/tools/cli"
)

// adapterCommand is what runs on a project's side, in front of what the service can't call by
// itself (contract 12.4).
type adapterCommand struct {
	Serve    adapterServe    `cmd:"" help:"Serve what a FILE says: MCP servers, form-encoded APIs, OAuth, jobs." example:"adapter serve adapter.yaml"`
	Check    adapterCheck    `cmd:"" help:"Check a FILE and print what it offers; reach nothing." example:"adapter check adapter.yaml"`
	Resolve  adapterResolve  `cmd:"" help:"Say how a call ended of which nobody knew, on the stopped adapter." example:"adapter resolve run-7.refund --status 200 --body answer.json --reason 'found in the ledger'"`
	Restored adapterRestored `cmd:"" help:"Declare that the stopped adapter's directory is a restored copy." example:"adapter restored adapter.yaml"`
}

// adapter is a FILE with the secrets that it names.
type adapter struct {
	file    *file.File
	secrets *secretfile.Source
}

func loadAdapter(t *cli.Terminal, path string) (*adapter, error) {
	f, err := file.Load(path)
	if err != nil {
		return nil, cli.UnusableError{Lines: strings.Split(err.Error(), "\n")}
	}
	env := map[string]string{}
	for _, pair := range t.Environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return &adapter{f, secretfile.New(env, f.Variables()...)}, nil
}

// usable reports what stops a start: a secret that verifies or signs is missing or unusable.
func (a *adapter) usable() error {
	var lines []string
	for i := range a.file.Upstreams {
		u := &a.file.Upstreams[i]
		if v, err := a.secrets.Look(u.SecretEnv); err != nil || v == "" {
			lines = append(lines, fmt.Sprintf("upstream %s: secretEnv: set %s, or %s%s, to the secret that the service signs with", u.Name, u.SecretEnv, u.SecretEnv, secretfile.Suffix))
		}
		if u.AnswerKeyEnv != "" {
			if _, err := serve.AnswerKey(a.secrets.Look, u); err != nil {
				lines = append(lines, fmt.Sprintf("upstream %s: answerKeyEnv: %v", u.Name, err))
			}
		}
		for _, name := range u.Secrets() {
			if a.secrets.Twice(name) {
				lines = append(lines, fmt.Sprintf("upstream %s: %s and %s%s are both set; keep one", u.Name, name, name, secretfile.Suffix))
			}
		}
	}
	if lines != nil {
		return cli.UnusableError{Lines: lines}
	}
	return nil
}

// warnings are what serves all the same.
func (a *adapter) warnings() (lines []string) {
	if a.file.Exposed() {
		lines = append(lines, "it listens beyond this machine without tls: what is called, and what is answered, travels readable")
	}
	for i := range a.file.Upstreams {
		u := &a.file.Upstreams[i]
		if v := a.secrets.Get(u.SecretEnv); v != "" && len(v) < 32 {
			lines = append(lines, fmt.Sprintf("upstream %s: the secret in %s is shorter than 32 bytes", u.Name, u.SecretEnv))
		}
		for _, name := range u.Needs() {
			if v, err := a.secrets.Look(name); err != nil || v == "" {
				lines = append(lines, fmt.Sprintf("upstream %s: %s is not set, so nothing is called", u.Name, name))
			}
		}
	}
	return lines
}

func (a *adapter) upstreams(memory upstream.Memory, log *slog.Logger) (map[string]upstream.Upstream, error) {
	all := map[string]upstream.Upstream{}
	for i := range a.file.Upstreams {
		u := &a.file.Upstreams[i]
		var err error
		if u.MCP != nil {
			all[u.Name], err = mcpup.New(u, a.secrets.Look, memory, log.With("upstream", u.Name))
		} else {
			all[u.Name], err = httpup.New(u, a.secrets.Look, memory)
		}
		if err != nil {
			return nil, cli.Unusablef("upstream %s: %v", u.Name, err)
		}
	}
	return all, nil
}

// adapterServe serves.
type adapterServe struct {
	File         string `arg:"" name:"FILE" help:"What it stands in front of, YAML or JSON."`
	LogFormat    string `name:"log" enum:"text,json," default:"" help:"Format of the log: text, or json. Default: text on a terminal, else json."`
	PrintOpenAPI bool   `name:"print-openapi" help:"Print the API document of what it offers, and end."`
}

// Help says what it is for.
func (adapterServe) Help() string {
	return "It verifies the service's signature, keeps each call before it makes it, never makes one twice, and answers what became of it. docs/adapter.md has an example of each kind of upstream. Secrets are environment variables, or files that NAME_FILE names; they never stand in FILE."
}

// Run serves until it is stopped.
func (s *adapterServe) Run(t *cli.Terminal) error {
	a, err := loadAdapter(t, s.File)
	if err != nil {
		return err
	}
	if s.PrintOpenAPI {
		return a.printOpenAPI(t.Out)
	}
	if err := a.usable(); err != nil {
		return err
	}
	hideSecrets(a.file.Variables())
	for _, line := range a.warnings() {
		fmt.Fprintln(t.Errs, "warning:", line)
	}
	return a.serve(t.Context, t.Errs, newLog(s.LogFormat, t.Errs))
}

func (a *adapter) printOpenAPI(w io.Writer) error {
	ups, err := a.upstreams(nil, slog.New(slog.DiscardHandler))
	if err == nil {
		_, err = w.Write(serve.Document(a.file, ups))
	}
	return err
}

func (a *adapter) serve(ctx context.Context, errs io.Writer, log *slog.Logger) (err error) {
	store, err := openCalls(ctx, a.file.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ups, err := a.upstreams(store, log)
	if err != nil {
		return err
	}
	s, err := serve.New(ctx, serve.Config{File: a.file, Store: store, Upstreams: ups, Secrets: a.secrets.Look, Now: time.Now, Log: log})
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", a.file.Listen)
	if err != nil {
		return cli.Unusablef("listen: %v", err)
	}
	go s.Tidy(ctx)
	for _, u := range ups {
		go u.Start(ctx)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	scheme := "http"
	if a.file.TLS != nil {
		scheme = "https"
	}
	fmt.Fprintf(errs, "countersign adapter %s, store %s\nlistening on %s://%s\n", version, a.file.Store, scheme, l.Addr())
	return a.until(ctx, server, l, s, ups)
}

// adapterGrace is how long a stop waits for calls under way, whose callers wait no longer.
const adapterGrace = upstream.Wait + 5*time.Second

// until serves until ctx ends, and lets the calls under way end.
func (a *adapter) until(ctx context.Context, server *http.Server, l net.Listener, s *serve.Server, ups map[string]upstream.Upstream) error {
	ended := make(chan error, 1)
	go func() {
		if a.file.TLS != nil {
			ended <- server.ServeTLS(l, a.file.TLS.CertFile, a.file.TLS.KeyFile)
		} else {
			ended <- server.Serve(l)
		}
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), adapterGrace)
	defer cancel()
	_ = server.Shutdown(grace) // what is cut off asks again
	s.Close(grace)
	for _, u := range ups {
		u.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

func openCalls(ctx context.Context, dir string) (*calls.Store, error) {
	store, err := calls.Open(ctx, dir, time.Now())
	if errors.Is(err, calls.ErrInUse) {
		return nil, cli.Unusablef("%s: another process uses the directory; stop the adapter first", dir)
	}
	return store, err
}
