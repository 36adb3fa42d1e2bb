package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/outbound"
	"github.com/countersign/countersign/internal/tools/adapter/calls"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	"github.com/countersign/countersign/internal/tools/adapter/serve"
	"github.com/countersign/countersign/internal/tools/adapter/upstream"
	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/receiver"
)

// adapterCheck checks a FILE.
type adapterCheck struct {
	File         string `arg:"" name:"FILE" help:"What the adapter stands in front of, YAML or JSON."`
	PrintOpenAPI bool   `name:"print-openapi" help:"Print the API document of what it offers instead."`
}

// Help says what is checked.
func (adapterCheck) Help() string {
	return "Exit status 2 names each line with a mistake. Variables needn't be set: what is missing is a warning, and an answer key's public half is printed where its seed is there."
}

// Run checks and prints.
func (c *adapterCheck) Run(t *cli.Terminal) error {
	a, err := loadAdapter(t, c.File)
	if err != nil {
		return err
	}
	if c.PrintOpenAPI {
		return a.printOpenAPI(t.Out)
	}
	for i := range a.file.Upstreams {
		u := &a.file.Upstreams[i]
		fmt.Fprintf(t.Out, "%s: %s\n", u.Name, offers(u))
		if u.AnswerKeyEnv != "" {
			key, err := serve.AnswerKey(a.secrets.Look, u)
			if err != nil {
				fmt.Fprintln(t.Errs, "warning:", err)
				continue
			}
			fmt.Fprintf(t.Out, "%s: answer key %s\n", u.Name, receiver.AnswerKeyText(key))
		}
	}
	for _, line := range a.warnings() {
		fmt.Fprintln(t.Errs, "warning:", line)
	}
	return nil
}

func offers(u *file.Upstream) string {
	if u.HTTP != nil {
		return fmt.Sprintf("%d operations of %s, at /http/%s", len(u.HTTP.Operations), u.HTTP.BaseURL, u.Name)
	}
	return fmt.Sprintf("%d tools of %s, at /mcp/%s", len(u.MCP.Tools), cli.Plain(u.MCP.URL+strings.Join(u.MCP.Command, " ")), u.Name)
}

// adapterStore is the directory of a stopped adapter.
type adapterStore struct {
	File  string `arg:"" optional:"" default:"adapter.yaml" name:"FILE" help:"The adapter's FILE, which names its directory."`
	Store string `placeholder:"DIR" help:"The directory itself, instead of FILE."`
}

func (a *adapterStore) open(t *cli.Terminal) (*calls.Store, string, error) {
	dir := a.Store
	if dir == "" {
		f, err := file.Load(a.File)
		if err != nil {
			return nil, "", cli.UnusableError{Lines: strings.Split(err.Error(), "\n")}
		}
		dir = f.Store
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, dir, cli.Unusablef("%s: there is no such directory", dir)
	}
	store, err := openCalls(t.Context, dir)
	return store, dir, err
}

// adapterResolve says how a call ended.
type adapterResolve struct {
	Key string `arg:"" name:"KEY" help:"The idempotency key, <runId>.<stepId>."`
	adapterStore
	Status int    `required:"" placeholder:"N" help:"The status that is answered from now on: 200 to 299, or 400 to 499 but 408."`
	Body   string `placeholder:"FILE" help:"The body that is answered: JSON, or a text. Default: none."`
	Reason string `required:"" placeholder:"WHY" help:"How it is known."`
}

// Help says what it changes.
func (adapterResolve) Help() string {
	return "Calls of which nobody knows how they ended are answered 504 outcome_unknown until somebody has found out. The reason is kept with the key. Nothing is called."
}

// Run resolves.
func (a *adapterResolve) Run(t *cli.Terminal) (err error) {
	if strings.TrimSpace(a.Reason) == "" {
		return cli.Unusablef("--reason is empty: say how it is known")
	}
	var body []byte
	if a.Body != "" {
		if body, err = os.ReadFile(a.Body); err != nil {
			return cli.Unusablef("--body: %v", err)
		}
	}
	if len(body) > countersign.MaxBodyBytes {
		return cli.Unusablef("--body: it is larger than 1 MiB")
	}
	ok := a.Status >= 200 && a.Status < 300 || a.Status >= 400 && a.Status < 500 && a.Status != http.StatusRequestTimeout
	if !ok {
		return cli.Unusablef("--status: %d is no end: it must be 200 to 299, or 400 to 499 but 408", a.Status)
	}
	answer, err := upstream.Success(a.Status, body, outbound.Masker{})
	if err != nil {
		return cli.Unusablef("--body: it is neither JSON nor UTF-8")
	}
	store, dir, err := a.open(t)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, store) }()
	if err := store.Resolve(t.Context, a.Key, calls.Answer{Status: answer.Status, ContentType: answer.ContentType, Body: answer.Body}, a.Reason, time.Now()); err != nil {
		return cli.RefusedError{Reason: a.refusal(t, store, dir)}
	}
	fmt.Fprintf(t.Out, "%s is answered with %d from now on\n", cli.Plain(a.Key), a.Status)
	return nil
}

// refusal says why a key can't be resolved.
func (a *adapterResolve) refusal(t *cli.Terminal, store *calls.Store, dir string) string {
	e, known, err := store.Look(t.Context, a.Key)
	switch {
	case err != nil:
		return dir + " can't be read"
	case !known:
		return a.Key + " was never seen in " + dir
	case e.State == calls.Done:
		return fmt.Sprintf("%s is answered already, with %d", a.Key, e.Answer.Status)
	default:
		return a.Key + " was withdrawn: nothing was called under it"
	}
}

// adapterRestored declares a restore.
type adapterRestored struct{ adapterStore }

// Help says when to use it.
func (adapterRestored) Help() string {
	return "Use it before the first start on a directory that was copied back, moved from a snapshot, or may lack what was written last. Nobody can find that out by himself: without it, a call that was forgotten may be made twice. For 10 minutes from then on no call is taken, until none of before can arrive any more."
}

// Run declares it.
func (a *adapterRestored) Run(t *cli.Terminal) (err error) {
	store, dir, err := a.open(t)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, store) }()
	now := time.Now()
	if err := store.Restored(t.Context, now); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "%s counts as restored at %s; calls are taken from %s on\n", dir, now.UTC().Format(time.RFC3339), now.Add(serve.RestoredPause).UTC().Format(time.RFC3339))
	return nil
}

func closing(err error, store *calls.Store) error {
	if closed := store.Close(); err == nil {
		return closed
	}
	return err
}
