package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/cli"
)

// reopenCommand makes a store that was copied safe to start again: it does what a restore does,
// since the copy may have sent what is unfinished here.
type reopenCommand struct {
	Store        string `arg:"" help:"The store, which nobody uses: a directory, or the postgres:// URL of a database."`
	Reason       string `required:"" help:"Why it is used again, as it shall stand in the audit logs." placeholder:"WHY"`
	RevokeTokens bool   `help:"Revoke every token: those that were revoked in the copy are good here otherwise."`
	cli.Output
}

// Help explains when to use the command and what it does.
func (reopenCommand) Help() string {
	return "'store copy' marks the store that it copies, and serve refuses a marked store: what is unfinished in it goes on in the copy, and would be sent by both. " +
		"Use this command where the copy is given up, or where its service is stopped for good. " +
		"What the copy has sent is not known to this store. So that nothing goes out twice, every project comes back as a new revision, disabled: no earlier plan or unfinished run sends anything any more. Sessions, links and codes end. " +
		"Replicas that have a record in it are watched for 10 seconds, and the command refuses if one of them is alive. " +
		"Passwords are better given as PGPASSWORD or PGPASSFILE than in a URL, which the list of processes shows."
}

type reopenReport struct {
	CopiedTo string    `json:"copiedTo"`
	CopiedAt time.Time `json:"copiedAt"`
	restoredReport
}

// Run reopens the store.
func (c *reopenCommand) Run(t *cli.Terminal) error {
	if strings.TrimSpace(c.Reason) == "" {
		return cli.Unusablef("--reason is empty: say why the store is used again")
	}
	var r reopenReport
	safe := makingSafe{store: c.Store, reason: "reopened after it was copied: " + c.Reason, revokeTokens: c.RevokeTokens}
	safe.before = func(ctx context.Context, st store.Store) error {
		copied, err := copiedTo(ctx, st)
		switch {
		case err != nil:
			return err
		case copied == nil:
			return cli.Unusablef("%s was not copied: serve takes it as it is", shownStore(c.Store))
		}
		r.CopiedTo, r.CopiedAt = copied.To, copied.At
		safe.reason = fmt.Sprintf("reopened, though it %s: %s", wasCopied(copied), c.Reason)
		return nil
	}
	made, err := safe.run(t)
	if err != nil {
		return err
	}
	r.restoredReport = made
	return c.Print(t, r, r.table)
}

func (r reopenReport) table(w io.Writer) {
	cli.Facts(w, [2]string{"was copied to", r.CopiedTo}, [2]string{"copied at", r.CopiedAt.UTC().Format(time.RFC3339)})
	r.restoredReport.table(w)
}
