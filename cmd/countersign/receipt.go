package main

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/tools/cli"
)

// receiptCommand has the client's commands on receipts, and those on the store.
type receiptCommand struct {
	cli.Receipt
	Rotate rotateCommand `cmd:"" help:"Make a new key for later receipts, on the stopped store or the database. The earlier public keys stay published." example:"receipt rotate --reason 'the backup was read by others'"`
}

type rotateCommand struct {
	Reason string `required:"" help:"Why, for the realm's audit log."`
	Store  string `help:"The store: a directory, or the postgres:// URL of a database." placeholder:"./countersign-data"`
}

// Run makes a new key and prints its public half.
func (c *rotateCommand) Run(t *cli.Terminal) error {
	cfg, err := understand(settings{Store: c.Store, Listen: "127.0.0.1:0"}, t.Environ)
	if err != nil {
		return err
	}
	st, err := openStore(t.Context, cfg.Store)
	if err != nil {
		return err
	}
	use := control.New(control.Config{NewID: newID, NewSecret: newSecret, Now: now}, toWrite(st), nil, nil, nil, nil, newLog(cfg.LogFormat, t.Errs))
	made, err := use.RotateReceiptKey(t.Context, c.Reason)
	if err == nil {
		fmt.Fprintln(t.Out, made.PublicKey)
	}
	return errors.Join(err, st.Close())
}
