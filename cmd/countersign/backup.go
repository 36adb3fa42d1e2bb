package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"filippo.io/age"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/cli"
)

// backupCommand copies the store while the service runs, and verifies the copy.
type backupCommand struct {
	File      string   `arg:"" help:"File to write; one that exists is never written over."`
	Store     string   `help:"Directory of the store; else SVC_PLATFORM_STORE, or ./countersign-data." placeholder:"DIR"`
	Recipient []string `help:"Encrypt the file for this public key of age (age1…); may be given several times, and any of them opens it." placeholder:"KEY"`
	cli.Output
}

// Help explains what is written to the disk meanwhile.
func (backupCommand) Help() string {
	return "A backup holds everything that the store does. Keys are made by 'age-keygen' (age-encryption.org); the service needs the public one alone. The copy is checked before it is encrypted, in a folder of its own below TMPDIR that is removed afterwards."
}

// backupReport describes the content of a backup.
type backupReport struct {
	File    string      `json:"file"`
	TakenAt time.Time   `json:"takenAt,omitzero"` // unknown for an existing file
	Bytes   int64       `json:"bytes"`
	SHA256  string      `json:"sha256"`
	Sealed  bool        `json:"encrypted"`
	Logs    []logReport `json:"logs"`
}

// logReport is the verification of an audit log in a backup; "" is the realm's log.
type logReport struct {
	TenantID string `json:"tenantId"`
	countersign.AuditVerification
}

// Run makes the backup and prints the report.
func (c *backupCommand) Run(t *cli.Terminal) error {
	dir, err := storeDirectory(c.Store, t.Environ)
	if err == nil {
		err = directoryOnly(dir, "back it up with the database's own tools, pg_basebackup with its log or pg_dump")
	}
	if err != nil {
		return err
	}
	to, err := recipients(c.Recipient)
	if err != nil {
		return err
	}
	report, err := c.take(t, dir, to)
	if err != nil {
		return err
	}
	if err := c.Print(t, report, report.table); err != nil {
		return err
	}
	return report.verdict()
}

// take copies the store and inspects the copy, before it is encrypted.
func (c *backupCommand) take(t *cli.Terminal, dir string, to []age.Recipient) (r backupReport, err error) {
	taken := now()
	copied := func(file string) error {
		bar := cli.NewBar(t, "copying")
		err := sqlite.Backup(t.Context, dir, file, func(done, all int) { bar.Set(int64(done), int64(all)) })
		if err == nil {
			bar.Done()
		}
		return err
	}
	if len(to) == 0 {
		if err := copied(c.File); err != nil {
			return r, err
		}
		r, err = inspect(t.Context, backupFile{path: c.File, plain: c.File})
	} else {
		r, err = c.sealed(t.Context, to, copied)
	}
	r.TakenAt = taken
	return r, err
}

// sealed makes the copy in a private directory, and encrypts it into the file if it is intact.
func (c *backupCommand) sealed(ctx context.Context, to []age.Recipient, copied func(file string) error) (r backupReport, err error) {
	if _, err := os.Lstat(c.File); err == nil {
		return r, fmt.Errorf("%s exists; a backup never writes over a file", c.File)
	}
	err = inPrivateDir(func(plain string) error {
		if err := copied(plain); err != nil {
			return err
		}
		if r, err = inspect(ctx, backupFile{path: plain, plain: plain}); err != nil || r.verdict() != nil {
			return err
		}
		return seal(plain, c.File, to)
	})
	if err != nil || r.verdict() != nil {
		r.File = "" // no file was written
		return r, err
	}
	r.File, r.Sealed = c.File, true
	r.SHA256, r.Bytes, err = digestOf(c.File)
	return r, err
}

func (r backupReport) table(w io.Writer) {
	facts := r.facts()
	if !r.TakenAt.IsZero() {
		facts = append(facts, [2]string{"taken at", r.TakenAt.Format(time.RFC3339)})
	}
	cli.Facts(w, facts...)
	logTable(w, r.Logs)
}

func (r backupReport) facts() [][2]string {
	return [][2]string{{"backup", orElse(r.File, "none was written")}, {"bytes", strconv.FormatInt(r.Bytes, 10)}, {"sha256", r.SHA256}, {"encrypted", yesNo(r.Sealed)}}
}

func logTable(w io.Writer, logs []logReport) {
	rows := [][]string{}
	for _, l := range logs {
		name, intact := l.TenantID, "intact"
		if name == store.Realm {
			name = "(realm)"
		}
		if !l.Intact {
			intact = "BROKEN"
		}
		rows = append(rows, []string{name, intact, strconv.FormatInt(l.Records, 10), l.Head})
	}
	cli.Table(w, []string{"audit log", "state", "records", "head"}, rows)
}

func (r backupReport) verdict() error { return verdict(r.Logs) }

// verdict returns the error for a broken audit log.
func verdict(logs []logReport) error {
	for _, l := range logs {
		if !l.Intact {
			return cli.StatusError{Status: cli.ExitFailed}
		}
	}
	return nil
}

// storeDirectory finds the store's directory in the settings as serve does.
func storeDirectory(flag string, environ []string) (string, error) {
	cfg, err := understand(settings{Store: flag}, environ)
	return cfg.Store, err
}

// inspect reads a whole backup: it checks every page and recomputes every audit log. The digest
// is of the file as stored.
func inspect(ctx context.Context, f backupFile) (r backupReport, err error) {
	r = backupReport{File: f.path, Sealed: f.path != f.plain}
	if r.SHA256, r.Bytes, err = digestOf(f.path); err != nil {
		return r, err
	}
	held, err := sqlite.OpenCopy(ctx, f.plain)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	r.Logs, err = verifiedLogs(ctx, held)
	return r, err
}

// viewer is a store that can be read.
type viewer interface {
	View(ctx context.Context, fn func(store.Tx) error) error
}

// verifiedLogs recomputes every audit log of a store.
func verifiedLogs(ctx context.Context, held viewer) (logs []logReport, err error) {
	err = held.View(ctx, func(tx store.Tx) error {
		tenants, err := records.TenantIDs(tx)
		if err != nil {
			return err
		}
		names := append([]string{store.Realm}, tenants...)
		logs = nil
		for _, name := range names {
			v, err := audit.Verify(tx, name)
			if err != nil {
				return fmt.Errorf("audit log of %q: %w", name, err)
			}
			logs = append(logs, logReport{TenantID: name, AuditVerification: v})
		}
		return nil
	})
	return logs, err
}

func digestOf(file string) (sum string, size int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
