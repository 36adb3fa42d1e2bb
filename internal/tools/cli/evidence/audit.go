// Package evidence has the commands on audit logs, receipts and archives; most check a file without a service.
package evidence

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Audit are the commands on the audit log (contract 9).
type Audit struct {
	List   AuditList   `cmd:"" help:"List what was done and refused, the newest first (ADMIN)." example:"audit list --subject run/run-1"`
	Verify AuditVerify `cmd:"" help:"Verify that nothing was changed or left out, in the service (ADMIN) or in an export without it; exit status 1 where anything was." example:"audit verify"`
	Export AuditExport `cmd:"" help:"Write the records as lines of JSON that can be verified without the service (ADMIN)." example:"audit export -o audit.jsonl"`
}

// AuditList is the command `audit list`.
type AuditList struct {
	auditFilter
	service.Listing
}

var auditTable = service.Columns[countersign.AuditRecord]{
	Heading: []string{"seq", "at", "actor", "action", "subject", "step", "outcome", "before", "after", "weakens", "reason"},
	Row: func(r countersign.AuditRecord) []string {
		return []string{words.Sequence(r.Seq), words.Moment(r.At), words.Called(r.Actor, r.ActorName), r.Action, r.Subject, r.Step, outcomeOf(r), r.Before, r.After, words.Yes(r.Weakens), r.Reason}
	},
}

// outcomeOf is a record's outcome, with the count if the record stands for several refusals.
func outcomeOf(r countersign.AuditRecord) string {
	if r.Count > 0 {
		return r.Outcome + ", " + times(r.Count)
	}
	return r.Outcome
}

func times(n int64) string {
	if n == 1 {
		return "once more"
	}
	return strconv.FormatInt(n, 10) + " times more"
}

// Run lists the records.
func (l *AuditList) Run(t *terminal.Terminal) error {
	filter, err := l.filter()
	if err != nil {
		return err
	}
	return service.ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[countersign.AuditRecord], error) {
		filter.Paging = p
		return c.AuditRecords(t.Context, filter)
	}, auditTable)
}
