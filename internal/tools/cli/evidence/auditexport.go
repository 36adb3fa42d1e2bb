package evidence

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
)

// AuditExport is the command `audit export`.
type AuditExport struct {
	auditFilter
	After *int64 `help:"Only records behind this sequence number: that of the last record that a collector has, so that it goes on where it stopped. The last line of an export is no record and has none." placeholder:"SEQ"`
	To    string `short:"o" help:"File to write, which only you can read; none of this name may exist. Default: standard output." placeholder:"FILE"`
	service.Connection
}

// Help says what the file can be used for.
func (AuditExport) Help() string {
	return "One record a line, oldest first, as JSON. The last line says of which log they are, how long it was and its head, so that 'countersign audit verify FILE' can check the file without the service. An export that breaks off leaves no file."
}

// Run exports.
func (e *AuditExport) Run(t *terminal.Terminal) error {
	filter, err := e.filter()
	if err != nil {
		return err
	}
	filter.After = e.After
	c, err := e.Client(t)
	if err != nil {
		return err
	}
	export := func(w io.Writer) (end *countersign.AuditExport, err error) {
		out := bufio.NewWriterSize(w, 64<<10)
		if end, err = c.ExportAudit(t.Context, filter, out); err == nil {
			err = out.Flush()
		}
		return end, err
	}
	if e.To == "" {
		_, err := export(t.Out)
		return err
	}
	end, err := toFile(e.To, export)
	if err == nil {
		fmt.Fprintf(t.Errs, "%d records of a log of %d, head %s\n", end.Records, end.Size, end.Head)
	}
	return err
}

// toFile writes to a temporary file and renames it to path when it is complete.
func toFile(path string, write func(io.Writer) (*countersign.AuditExport, error)) (end *countersign.AuditExport, err error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, terminal.Unusablef("%s exists; choose another name", path)
	}
	begun := false
	err = atomicfile.Create(path, func(w io.Writer) (err error) {
		begun = true
		end, err = write(w)
		return err
	})
	if err != nil && !begun {
		return nil, terminal.Unusablef("%v", err)
	}
	return end, err
}

// auditFilter is the flags that select records.
type auditFilter struct {
	Subject string `help:"Only about this: kind/id." placeholder:"KIND/ID"`
	Actor   string `help:"Only by this principal: user:EMAIL, token:ID or system." placeholder:"WHO"`
	Action  string `help:"Only this action." placeholder:"NAME"`
	Since   string `help:"Not before this time, such as 2026-11-21 or 2026-11-21T15:04:05Z, or this long ago, such as 24h." placeholder:"TIME"`
	Realm   bool   `help:"The realm's log; realm administrators only."`
}

func (a *auditFilter) filter() (client.AuditFilter, error) {
	since, err := typed.Instant(a.Since, time.Now())
	return client.AuditFilter{Subject: a.Subject, Actor: a.Actor, Action: a.Action, Since: since, Realm: a.Realm}, err
}
