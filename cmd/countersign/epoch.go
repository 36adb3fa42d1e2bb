package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/tools/cli"
)

// auditCommand has the client's commands on audit logs, and the one on the store.
type auditCommand struct {
	cli.Audit
	Epoch epochCommand `cmd:"" help:"Begin a new epoch of the audit logs, on the stopped store or the database: witnesses know them by other names and keys from then on." example:"audit epoch --reason 'restored the backup of 3 May: the disk was lost'"`
}

type epochCommand struct {
	Reason string `required:"" help:"Why, as it shall stand in each audit log: whoever verifies has to accept it." placeholder:"WHY"`
	Store  string `help:"The store, which nobody uses: a directory, or the postgres:// URL of a database." placeholder:"./countersign-data"`
	cli.Output
}

// Help says when to use it.
func (epochCommand) Help() string {
	return "For a log that witnesses cosign no more, since it is not what they have cosigned: after a restore of an older state, or the loss of the log's key. Nothing of the logs is changed. Each goes on under a new origin, with a new key, and the first record there has the reason and the last head that was cosigned before. " +
		"It prints the logs' new vkeys: give them to the witnesses. Verifiers say the epoch first, and take none but the first unless --epoch names it: tell those who verify, by another way, why there is a new one."
}

// Run begins the epoch and prints what witnesses need.
func (c *epochCommand) Run(t *cli.Terminal) (err error) {
	if strings.TrimSpace(c.Reason) == "" {
		return cli.Unusablef("--reason is empty: say why a new epoch begins")
	}
	cfg, err := understand(settings{Store: c.Store, Listen: "127.0.0.1:0"}, t.Environ)
	if err != nil {
		return err
	}
	safe := makingSafe{store: cfg.Store}
	st, err := safe.open(t.Context)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if _, err := lease.Vacate(t.Context, st); err != nil {
		return safe.refusal(err)
	}
	use := control.New(control.Config{NewID: newID, NewSecret: newSecret, Now: now}, st, nil, nil, nil, nil, newLog(cfg.LogFormat, t.Errs))
	defer use.Close()
	begun, err := use.BeginEpoch(t.Context, c.Reason)
	if err != nil {
		return err
	}
	return c.Print(t, begun, func(w io.Writer) {
		rows := [][]string{}
		for _, l := range begun.Logs {
			rows = append(rows, []string{logName(l.TenantID), strconv.FormatInt(l.Records, 10), strconv.FormatInt(l.Cosigned, 10), l.LogKey})
		}
		cli.Facts(w, [2]string{"epoch", strconv.Itoa(begun.Epoch)})
		cli.Table(w, []string{"log", "records", "cosigned before", "vkey"}, rows)
		fmt.Fprintln(w, "Next: give each witness the vkeys, start the service, and tell those who verify why there is a new epoch.")
	})
}
