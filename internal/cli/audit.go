package cli

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// Audit are the commands on the audit log (contract 9).
type Audit struct {
	List   AuditList   `cmd:"" help:"List what was done and refused, the newest first (ADMIN)." example:"audit list --subject run/run-1"`
	Verify AuditVerify `cmd:"" help:"Verify that nothing was changed or left out; exit status 1 where anything was (ADMIN)." example:"audit verify"`
}

// AuditList lists.
type AuditList struct {
	Subject string `help:"Only about this: kind/id." placeholder:"KIND/ID"`
	Actor   string `help:"Only by this principal: user:EMAIL, token:ID or system." placeholder:"WHO"`
	Action  string `help:"Only this action." placeholder:"NAME"`
	Since   string `help:"Not before this time, such as 2026-11-21 or 2026-11-21T15:04:05Z, or this long ago, such as 24h." placeholder:"TIME"`
	Realm   bool   `help:"The realm's log; realm administrators only."`
	Listing
}

var auditTable = table[countersign.AuditRecord]{
	heading: []string{"seq", "at", "actor", "action", "subject", "step", "outcome", "before", "after", "reason"},
	row: func(r countersign.AuditRecord) []string {
		return []string{sequence(r.Seq), moment(r.At), r.Actor, r.Action, r.Subject, r.Step, r.Outcome, r.Before, r.After, r.Reason}
	},
}

// Run lists the records.
func (l *AuditList) Run(t *Terminal) error {
	since, err := instant(l.Since, time.Now())
	if err != nil {
		return err
	}
	c, err := l.Client(t)
	if err != nil {
		return err
	}
	return list(t, l.Listing, func(p client.Paging) (*countersign.Page[countersign.AuditRecord], error) {
		return c.AuditRecords(t.Context, client.AuditFilter{Paging: p, Subject: l.Subject, Actor: l.Actor, Action: l.Action, Since: since, Realm: l.Realm})
	}, auditTable)
}

// instant reads a time, or how long before now it was.
func instant(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, Unusablef("--since %q: it must be a time such as 2026-11-21 or 2026-11-21T15:04:05Z, or how long ago, such as 24h", text)
}
