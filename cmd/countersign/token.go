package main

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/tools/cli"
)

// tokenCommand has the commands on tokens that need no service.
type tokenCommand struct {
	Check checkCommand `cmd:"" help:"Is a string a token? For secret scanners; nothing is asked of a service." example:"token check csn_0000000000000000000000000000000000000000000000000"`
	Issue issueCommand `cmd:"" help:"Issue a token on the stopped store, for when all are lost. It is audited and shown once." example:"token issue --tenant default --role ADMIN"`
}

type issueCommand struct {
	Tenant string `required:"" help:"Tenant of the token."`
	Role   string `required:"" enum:"ADMIN,OPERATOR,APPROVER,VIEWER" help:"Role of the token: ADMIN, OPERATOR, APPROVER or VIEWER."`
	Store  string `help:"Directory of the store." placeholder:"./countersign-data"`
}

// Run issues the token.
func (c *issueCommand) Run(t *cli.Terminal) error {
	ctx := t.Context
	cfg, err := understand(settings{Store: c.Store, Listen: "127.0.0.1:0"}, t.Environ)
	if err != nil {
		return err
	}
	if err := unmigrated(ctx, cfg.Store); err != nil {
		return err
	}
	st, err := openStore(ctx, cfg.Store)
	if err != nil {
		return err
	}
	use := control.New(control.Config{NewID: newID, NewSecret: newSecret, Now: now}, toWrite(st), nil, nil, nil, nil, newLog(cfg.LogFormat, t.Errs))
	token, err := use.IssueToken(ctx, c.Tenant, countersign.Role(c.Role))
	if err == nil {
		fmt.Fprintln(t.Out, token)
	}
	return errors.Join(err, st.Close())
}
