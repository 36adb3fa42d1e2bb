package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/leveled"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/transfer"
)

// storeCommand has the commands on a whole store.
type storeCommand struct {
	Copy     copyCommand     `cmd:"" help:"Copy everything from one store to another that is empty, and check the copy." example:"store copy ./countersign-data postgres://countersign@db.example.com/countersign"`
	Reopen   reopenCommand   `cmd:"" help:"Make a store safe to start that was copied elsewhere." example:"store reopen ./countersign-data --reason 'the copy is given up'"`
	Restored restoredCommand `cmd:"" help:"Make a database safe to start that was restored to an earlier point by its own means." example:"store restored postgres://countersign@db.example.com/countersign"`
}

// copyCommand copies an installation from one engine to the other.
type copyCommand struct {
	From  string `arg:"" help:"The store to copy, which nobody uses: a directory or a postgres:// URL."`
	To    string `arg:"" help:"Where to: a directory, missing or empty, or the postgres:// URL of an empty database."`
	Force bool   `help:"Copy although replicas have a record in FROM, which crashed. They are watched for 10 seconds, and the copy is refused if one of them is alive."`
	cli.Output
}

// Help explains what happens to the source, and to an incomplete copy.
func (copyCommand) Help() string {
	return "Stop the service first: what is unfinished goes on in the copy, and two services would both send it. Every row is read back and compared by digest, and the audit logs of the copy are verified. " +
		"A store of an earlier release is refused, since opening it would change its tables: start this release once on it, or copy with the release it is of. " +
		"FROM is marked before anything is copied, and serve refuses it from then on: what is unfinished in it goes on in the copy. 'countersign store reopen' makes it safe to start again. " +
		"A copy that is broken off leaves a directory as it was, and a database that serve refuses: drop it and copy again. A store that has a complete copy isn't copied once more. " +
		"Passwords are better given as PGPASSWORD or PGPASSFILE than in a URL, which the list of processes shows."
}

// elsewhere is a store's address for whoever reads it elsewhere, without its password.
func elsewhere(address string) string {
	if isShared(address) {
		return shownStore(address)
	}
	return resolved(address)
}

// copyReport describes the copy.
type copyReport struct {
	From       string           `json:"from"`
	To         string           `json:"to"`
	Rows       int64            `json:"rows"`
	FromSHA256 string           `json:"fromSha256"`
	ToSHA256   string           `json:"toSha256"`
	Tables     []transfer.Moved `json:"tables"`
	Logs       []logReport      `json:"logs"`
}

// Run copies.
func (c *copyCommand) Run(t *cli.Terminal) (err error) {
	if err := c.apart(); err != nil {
		return err
	}
	for _, address := range []string{c.From, c.To} {
		if err := unmigrated(t.Context, address); err != nil {
			return err
		}
	}
	from, err := c.source(t.Context)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	moved, err := c.copy(t, from)
	switch {
	case err == nil || errors.Is(err, errUnsound):
		r := c.report(moved)
		return errors.Join(c.Print(t, r, r.table), err)
	case errors.Is(err, transfer.ErrBrokenOff) && isShared(c.To):
		fmt.Fprintf(t.Errs, "countersign: %s holds part of a copy, and serve refuses it: drop and recreate that database before you copy again\n", cli.Plain(shownStore(c.To)))
	}
	return c.refusal(err)
}

// errUnsound is the error for a copy whose check failed.
var errUnsound = errors.New("the copy can't be used: its digest is not the source's, or an audit log in it is broken")

// copy makes the target and fills it. A directory gets its name only when it is complete.
func (c *copyCommand) copy(t *cli.Terminal, from store.Store) (moved transfer.Report, err error) {
	fill := func(to store.Store) error {
		bar := cli.NewBar(t, "copying")
		defer bar.Done()
		if err := leveled.Carry(t.Context, from, to); err != nil {
			return err
		}
		if moved, err = transfer.Copy(t.Context, from, to, transfer.Config{Crashed: c.Force, To: elsewhere(c.To), At: now(), Progress: bar.Set}); err == nil && !moved.Sound() {
			err = errUnsound
		}
		return err
	}
	if !isShared(c.To) {
		err = sqlite.Make(t.Context, c.To, func(to *sqlite.Store) error { return fill(to) })
		return moved, err
	}
	to, err := postgres.Open(t.Context, c.To)
	if err != nil {
		return moved, err
	}
	return moved, errors.Join(fill(to), to.Close())
}

// source opens the source and refuses it while a process uses it.
func (c *copyCommand) source(ctx context.Context) (store.Store, error) {
	if !isShared(c.From) {
		sight, err := sqlite.Look(c.From)
		switch {
		case err != nil:
			return nil, err
		case !sight.Exists:
			return nil, cli.Unusablef("there is no store at %s", c.From)
		case sight.InUse:
			return nil, cli.Unusablef("another process uses the store at %s: stop it, then copy", c.From)
		}
	}
	from, err := openUnless(ctx, c.From, refuseHalfCopied)
	if p, is := from.(*postgres.Store); is && p.Newer() {
		return nil, errors.Join(cli.Unusablef("a newer release has added tables or columns to %s that this release would not copy: copy with that release", shownStore(c.From)), from.Close())
	}
	return from, err
}

// refusal turns errors about unusable stores into the exit status for them.
func (c *copyCommand) refusal(err error) error {
	to := shownStore(c.To)
	switch {
	case errors.Is(err, transfer.ErrBrokenOff):
		return err
	case errors.Is(err, transfer.ErrInUse):
		return cli.Unusablef("%s: %v: stop them, then copy. One that crashed leaves its record: --force watches whether it is alive, and copies if none is", shownStore(c.From), err)
	case errors.Is(err, lease.ErrAlive):
		return cli.Unusablef("%s: %v, and would go on with what the copy goes on with: stop all replicas, then copy", shownStore(c.From), err)
	case errors.Is(err, transfer.ErrCopied):
		return cli.RefusedError{Reason: fmt.Sprintf("%s: %v: copy that copy, or 'countersign store reopen' this store first", shownStore(c.From), err)}
	case errors.Is(err, transfer.ErrEmpty):
		return cli.Unusablef("%s holds nothing to copy", shownStore(c.From))
	case errors.Is(err, transfer.ErrIncomplete):
		return cli.Unusablef("%s holds part of a copy that was broken off or is running: drop and recreate that database, then copy", to)
	case errors.Is(err, transfer.ErrOccupied):
		return cli.Unusablef("%s is not empty, and nothing is ever overwritten: give an empty database, or drop and recreate this one", to)
	case errors.Is(err, sqlite.ErrOccupied):
		return cli.Unusablef("%v", err)
	}
	return err
}

func (c *copyCommand) report(moved transfer.Report) copyReport {
	r := copyReport{
		From: shownStore(c.From), To: shownStore(c.To), Rows: moved.Rows, FromSHA256: moved.From, ToSHA256: moved.To,
		Tables: moved.Tables, Logs: []logReport{},
	}
	for _, l := range moved.Logs {
		r.Logs = append(r.Logs, logReport(l))
	}
	return r
}

func (r copyReport) table(w io.Writer) {
	cli.Facts(w, [2]string{"from", r.From}, [2]string{"to", r.To}, [2]string{"rows", strconv.FormatInt(r.Rows, 10)},
		[2]string{"sha256 of from", r.FromSHA256}, [2]string{"sha256 of to", r.ToSHA256})
	rows := [][]string{}
	for _, m := range r.Tables {
		rows = append(rows, []string{m.Table, strconv.FormatInt(m.Rows, 10)})
	}
	cli.Table(w, []string{"table", "rows"}, rows)
	logTable(w, r.Logs)
	if r.FromSHA256 == r.ToSHA256 {
		fmt.Fprintln(w, "Next: start the service on the copy. The source is marked, and serve refuses it.")
	}
}
