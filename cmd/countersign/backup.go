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

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/audit"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sqlite"
)

// backupCommand copies the store while the service runs, and looks at the copy.
type backupCommand struct {
	File  string `arg:"" help:"File to write; one that exists is never written over."`
	Store string `help:"Directory of the store; else SVC_PLATFORM_STORE, or ./countersign-data." placeholder:"DIR"`
	cli.Output
}

// backupReport says what a backup holds.
type backupReport struct {
	File    string      `json:"file"`
	TakenAt time.Time   `json:"takenAt"`
	Bytes   int64       `json:"bytes"`
	SHA256  string      `json:"sha256"`
	Logs    []logReport `json:"logs"`
}

// logReport is an audit log in a backup; "" is the realm's.
type logReport struct {
	TenantID string `json:"tenantId"`
	countersign.AuditVerification
}

// Run backs up.
func (c *backupCommand) Run(t *cli.Terminal) error {
	dir, err := storeDirectory(c.Store, t.Environ)
	if err == nil {
		err = directoryOnly(dir, "back it up with the database's own tools, pg_basebackup with its log or pg_dump")
	}
	if err != nil {
		return err
	}
	taken := now()
	bar := cli.NewBar(t, "copying")
	if err := sqlite.Backup(t.Context, dir, c.File, func(done, all int) { bar.Set(int64(done), int64(all)) }); err != nil {
		return err
	}
	bar.Done()
	report, err := inspect(t.Context, c.File)
	if err != nil {
		return err
	}
	report.TakenAt = taken
	if err := c.Print(t, report, report.table); err != nil {
		return err
	}
	return report.verdict()
}

func (r backupReport) table(w io.Writer) {
	cli.Facts(w, [2]string{"backup", r.File}, [2]string{"taken at", r.TakenAt.Format(time.RFC3339)},
		[2]string{"bytes", strconv.FormatInt(r.Bytes, 10)}, [2]string{"sha256", r.SHA256})
	logTable(w, r.Logs)
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

// verdict is the status of a command that found a log broken.
func verdict(logs []logReport) error {
	for _, l := range logs {
		if !l.Intact {
			return cli.StatusError{Status: cli.ExitFailed}
		}
	}
	return nil
}

// storeDirectory understands the settings as serve does.
func storeDirectory(flag string, environ []string) (string, error) {
	cfg, err := understand(settings{Store: flag}, environ)
	return cfg.Store, err
}

// inspect reads a whole backup: every page, and every audit log computed anew.
func inspect(ctx context.Context, file string) (r backupReport, err error) {
	r = backupReport{File: file}
	if r.SHA256, r.Bytes, err = digestOf(file); err != nil {
		return r, err
	}
	held, err := sqlite.OpenCopy(ctx, file)
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

// verifiedLogs computes every audit log of a store anew.
func verifiedLogs(ctx context.Context, held viewer) (logs []logReport, err error) {
	err = held.View(ctx, func(tx store.Tx) error {
		tenants, err := records.Tenants.List(tx, store.Realm, store.Query{})
		if err != nil {
			return err
		}
		names := []string{store.Realm}
		for _, tenant := range tenants {
			names = append(names, tenant.ID)
		}
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
