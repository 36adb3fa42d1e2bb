package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/cli"
)

// restoredCommand does for a store that was restored by other means what restore does for a
// directory: it makes the store safe to start.
type restoredCommand struct {
	Store        string `arg:"" help:"The restored store, which nobody uses: the postgres:// URL of a database, or a directory."`
	Point        string `help:"The moment that it was brought back to, as it shall stand in the audit logs." placeholder:"TIME"`
	RevokeTokens bool   `help:"Revoke every token: those that were revoked since that moment are good again otherwise."`
	cli.Output
}

// Help explains when to use the command and what it does.
func (restoredCommand) Help() string {
	return "Use it after each restore, before the first replica starts, and after a failover that lost commits. " +
		"What was sent since that moment is not known to the store. So that nothing goes out twice, every project comes back as a new revision, disabled: no earlier plan or unfinished run sends anything any more. Sessions end, and all links and codes that work once. Unfinished runs say that they may have been sent. " +
		"Replicas that ran at that moment have left their records in it: they are watched for 10 seconds, and the command refuses if one of them is alive. " +
		"Passwords are better given as PGPASSWORD or PGPASSFILE than in a URL, which the list of processes shows."
}

type restoredReport struct {
	Store    string      `json:"store"`
	Logs     []logReport `json:"logs"`
	Replicas int         `json:"replicas"` // number of replicas' records that were removed
	control.Restored
	TokensRevoked bool `json:"tokensRevoked"`
}

// Run makes the store safe.
func (c *restoredCommand) Run(t *cli.Terminal) error {
	reason := "the store was restored to an earlier point"
	if c.Point != "" {
		reason += ": " + c.Point
	}
	safe := makingSafe{store: c.Store, reason: reason, revokeTokens: c.RevokeTokens}
	r, err := safe.run(t)
	if err != nil {
		return err
	}
	return c.Print(t, r, r.table)
}

// makingSafe makes a store safe to start that another one may have gone on from.
type makingSafe struct {
	store, reason string
	revokeTokens  bool
	before        func(context.Context, store.Store) error // may refuse it
}

func (m *makingSafe) run(t *cli.Terminal) (r restoredReport, err error) {
	st, err := m.open(t.Context)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if m.before != nil {
		if err := m.before(t.Context, st); err != nil {
			return r, err
		}
	}
	r = restoredReport{Store: shownStore(m.store), TokensRevoked: m.revokeTokens}
	if r.Logs, err = verifiedLogs(t.Context, st); err != nil {
		return r, err
	}
	if verdict(r.Logs) != nil {
		logTable(t.Errs, r.Logs)
		return r, fmt.Errorf("an audit log in %s is broken; nothing was changed", r.Store)
	}
	return r, m.refusal(m.makeSafe(t, st, &r))
}

// open opens an existing store; it creates none.
func (m *makingSafe) open(ctx context.Context) (store.Store, error) {
	var exists bool
	if isShared(m.store) {
		sight, err := lookAt(ctx, m.store)
		if err != nil {
			return nil, err
		}
		exists = sight.Schema > 0
	} else {
		sight, err := sqlite.Look(m.store)
		switch {
		case err != nil:
			return nil, err
		case sight.InUse:
			return nil, cli.Unusablef("another process uses the store at %s: stop it first", m.store)
		}
		exists = sight.Exists
	}
	if !exists {
		return nil, cli.Unusablef("there is no store at %s", shownStore(m.store))
	}
	if err := unmigrated(ctx, m.store); err != nil {
		return nil, err
	}
	st, err := openUnless(ctx, m.store, refuseHalfCopied)
	if err != nil {
		return nil, err
	}
	return toWrite(st), nil
}

func lookAt(ctx context.Context, address string) (sight postgres.Server, err error) {
	reader, err := postgres.OpenReader(address)
	if err != nil {
		return sight, err
	}
	sight, err = reader.Look(ctx)
	return sight, errors.Join(err, reader.Close())
}

func (m *makingSafe) makeSafe(t *cli.Terminal, st store.Store, r *restoredReport) (err error) {
	if r.Replicas, err = lease.Vacate(t.Context, st); err != nil {
		return err
	}
	use := control.New(control.Config{NewID: newID, NewSecret: newSecret, Now: now}, st, nil, nil, nil, nil, newLog("text", t.Errs))
	defer use.Close()
	r.Restored, err = use.AfterRestore(t.Context, m.reason, m.revokeTokens)
	return err
}

// refusal turns the error about a store in use into the exit status for it.
func (m *makingSafe) refusal(err error) error {
	if errors.Is(err, lease.ErrAlive) || errors.Is(err, control.ErrReplicas) {
		return cli.Unusablef("%s: %v: stop all replicas first", shownStore(m.store), err)
	}
	return err
}

func (r restoredReport) table(w io.Writer) {
	logTable(w, r.Logs)
	cli.Facts(w, append([][2]string{{"store", r.Store}, {"made safe at", now().Format(time.RFC3339)},
		{"replicas", strconv.Itoa(r.Replicas) + " that ran at that moment were taken off"}}, restoredFacts(r.Restored, r.TokensRevoked)...)...)
	fmt.Fprintln(w, afterRestore)
}

// afterRestore lists the next tasks of the operator.
const afterRestore = "Next: compare with the projects' own records, start the service, check and enable each project, compile plans anew."

// restoredFacts describe what a restore changed.
func restoredFacts(r control.Restored, tokensRevoked bool) [][2]string {
	tokens := "good again as they were: revoke those that were revoked since"
	if tokensRevoked {
		tokens = "revoked; 'countersign token issue' makes the first new one"
	}
	return [][2]string{
		{"projects", strconv.Itoa(r.Projects) + ", each with a new revision, disabled: what was sent since is not known here"},
		{"tokens", strconv.Itoa(r.Tokens) + ", " + tokens}, {"sessions", strconv.Itoa(r.Sessions) + " ended"}, {"links and codes", strconv.Itoa(r.Secrets) + " ended"},
		{"runs", strconv.Itoa(r.Runs) + " unfinished, each of which may have been sent by the store that this one replaces, and says so"},
	}
}
