package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/tools/cli"
)

// restoreCommand makes from a backup a store that is safe to start.
type restoreCommand struct {
	File         string `arg:"" help:"The backup."`
	Store        string `help:"Directory to make, missing or empty; else SVC_PLATFORM_STORE, or ./countersign-data." placeholder:"DIR"`
	SHA256       string `name:"sha256" help:"Refuse another file than the one with this digest, as 'backup' printed it." placeholder:"HEX"`
	Identity     string `help:"File with the secret key of age, for a backup that is encrypted." placeholder:"FILE"`
	RevokeTokens bool   `help:"Revoke every token: those that were revoked since the backup would be good again."`
	cli.Output
}

// Help explains what a restore means for calls that were sent after the backup.
func (restoreCommand) Help() string {
	return "What was sent since the backup is not known to it. So that nothing goes out twice, every project comes back as a new revision, disabled: no earlier plan or unfinished run sends anything any more. Compare with the projects' own records, then check and enable each project, and compile plans anew."
}

type restoreReport struct {
	Store  string       `json:"store"`
	Backup backupReport `json:"backup"`
	control.Restored
	TokensRevoked bool `json:"tokensRevoked"`
}

// Run restores.
func (c *restoreCommand) Run(t *cli.Terminal) error {
	cfg, err := understand(settings{Store: c.Store}, t.Environ)
	if err == nil {
		err = directoryOnly(cfg.Store, "restore it with the database's own tools, then run 'countersign store restored'")
	}
	if err != nil {
		return err
	}
	var r restoreReport
	err = opened(c.File, c.Identity, func(f backupFile) error {
		r, err = c.from(t, cfg, f)
		return err
	})
	if err != nil {
		return err
	}
	return c.Print(t, r, r.table)
}

// from makes the store from a readable file.
func (c *restoreCommand) from(t *cli.Terminal, cfg config, f backupFile) (r restoreReport, err error) {
	held, err := inspect(t.Context, f)
	if err != nil {
		return r, err
	}
	if err := held.is(c.SHA256); err != nil {
		return r, err
	}
	if err := held.verdict(); err != nil {
		held.table(t.Errs)
		return r, fmt.Errorf("an audit log in %s is broken; it is not restored", c.File)
	}
	r = restoreReport{Store: cfg.Store, Backup: held, TokensRevoked: c.RevokeTokens}
	err = sqlite.Restore(t.Context, f.plain, cfg.Store, func(st *sqlite.Store) error {
		use := control.New(control.Config{NewID: newID, NewSecret: newSecret, Now: now}, st, nil, nil, nil, nil, newLog(cfg.LogFormat, t.Errs))
		defer use.Close()
		r.Restored, err = use.AfterRestore(t.Context, "restored from a backup with the digest "+held.SHA256, c.RevokeTokens)
		return err
	})
	return r, err
}

// is returns an error if the backup doesn't have this digest; "" matches any backup.
func (r backupReport) is(digest string) error {
	if digest != "" && digest != r.SHA256 {
		return cli.Unusablef("%s has the digest %s, not %s", r.File, r.SHA256, digest)
	}
	return nil
}

func (r restoreReport) table(w io.Writer) {
	cli.Facts(w, append([][2]string{{"store", r.Store}, {"from", r.Backup.File + ", " + strconv.FormatInt(r.Backup.Bytes, 10) + " bytes"},
		{"restored at", now().Format(time.RFC3339)}}, restoredFacts(r.Restored, r.TokensRevoked)...)...)
	fmt.Fprintln(w, afterRestore)
}
