package desk

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// toRead is the size of a body from which the list says that there is much to read.
const toRead = 64 << 10

// soon is how long before its end an approval is marked.
const soon = time.Hour

// Name is a principal as lists say it: by name where there is one.
func Name(principal, name string) string { return cmp.Or(name, text.Who(principal)) }

func approvalRow(v *web.Request, q query, in *control.InboxRow, names map[string]string) Row {
	row := Row{
		Kind: Approval, ID: in.ID, Href: web.Prefix + q.page(Approval, in.ID), Title: cmp.Or(in.Title, in.Capability),
		Amount: in.Amount, Unit: in.Unit, Where: cmp.Or(names[in.ProjectID], in.ProjectID), Who: Name(in.RequestedBy, in.RequestedByName),
		Since: in.RequestedAt, Expires: in.ExpiresAt, item: *in,
	}
	if in.Barred != nil {
		row.Bar = barredWords(in.Barred)
	}
	row.Marks = approvalMarks(in, v.Now)
	return row
}

// approvalMarks are what one must know of an approval before one opens it, the gravest first.
func approvalMarks(in *control.InboxRow, now time.Time) (marks []Mark) {
	add := func(is bool, class, word string) {
		if is {
			marks = append(marks, Mark{class, word})
		}
	}
	add(in.Same > 0, "red", "Same request, "+strconv.Itoa(in.Same)+" more "+map[bool]string{true: "waits", false: "waiting"}[in.Same == 1])
	add(in.Request.Method == "DELETE", "red", "DELETE")
	add(len(in.OpenAlike) > 0, "unc", "the same call is open")
	add(!in.RestoredAt.IsZero(), "unc", "may have been sent")
	add(in.AskedAgain > 0, "amb", "Asked again: the state changed")
	add(in.AskedAgain > 0, "idle", strconv.FormatInt(in.AskedAgain+1, 10)+" of at most "+strconv.Itoa(countersign.MaxAskedAgain+1))
	add(in.AskedAgainAfter != "", "amb", "rejected before")
	add(in.BehindUnknown, "amb", "for somebody unknown")
	if in.Needed() > 1 {
		word := strconv.Itoa(in.Given) + " of " + strconv.Itoa(in.Needed())
		if len(in.Open) > 0 {
			word += ", " + strings.Join(in.Open, " and ") + map[bool]string{true: " is missing", false: " are missing"}[len(in.Open) == 1]
		}
		add(true, "amb", word)
	} else {
		add(len(in.Groups) > 0, "idle", "for "+strings.Join(in.Groups, " and "))
	}
	add(in.ExpiresAt.Sub(now) < soon, "amb", "expires in "+text.Span(in.ExpiresAt.Sub(now)))
	add(in.Size > toRead, "idle", strconv.FormatInt(in.Size>>10, 10)+" KiB to read")
	return marks
}

// barredWords say in few words why the visitor can't decide.
func barredWords(err error) string {
	switch countersign.ErrorCode(err) {
	case countersign.CodeSelfApproval:
		return "you asked for it"
	case countersign.CodeStateConflict:
		return "you have decided"
	}
	return "somebody else decides"
}

// maxRecoveries is how many uncertain runs the list has.
const maxRecoveries = 100

// recoveries are the runs whose outcome nobody knows: those that the visitor may settle, or the
// others.
func recoveries(v *web.Request, q query, others bool) (rows []Row, err error) {
	list, err := v.Control.Uncertain(v.R.Context(), v.Actor, maxRecoveries)
	if err != nil {
		return nil, err
	}
	names, later, read := projectNames(v), laterOf(v), 0
	for i := range list {
		w := &list[i]
		if (w.Barred != nil) != others || !others && slices.Contains(later, w.Run.ID) {
			continue
		}
		if read++; read <= readWhole {
			if whole, err := v.Control.Run(v.R.Context(), v.Actor, w.Run.ID); err == nil {
				w.Run = whole
			}
		}
		rows = append(rows, recoveryRow(q, w, names))
	}
	return rows, nil
}

// readWhole is how many of them are read with what was sent and found, for their titles and for
// what differs.
const readWhole = 20

func recoveryRow(q query, w *control.Waiting, names map[string]string) Row {
	r := &w.Run
	row := Row{
		Kind: Recovery, ID: r.ID, Href: web.Prefix + q.page(Recovery, r.ID), Title: r.PlanID, Who: Name(r.RequestedBy, r.RequestedByName), Since: r.UpdatedAt,
	}
	if w.Barred != nil {
		row.Bar = barredWords(w.Barred)
	}
	if r.WaitingFor == nil {
		return row
	}
	row.Since = r.WaitingFor.Since
	i := text.StepIndex(r, r.WaitingFor.StepID)
	if i < 0 {
		return row
	}
	s := &r.Steps[i]
	row.Title, row.Where = text.NameOf(s), cmp.Or(names[s.ProjectID], s.ProjectID)
	outputField := ""
	if c := text.CapabilityOf(r.PlanSnapshot, s.ProjectID, s.Capability); c != nil {
		outputField = c.OutputField
		row.Title = cmp.Or(request.TitleOf(cost.New(nil, cost.InTurn, 0), c, s.Input), row.Title)
	}
	row.Marks = recoveryMarks(r, s, outputField)
	return row
}

func recoveryMarks(r *countersign.Run, s *countersign.StepRun, outputField string) (marks []Mark) {
	if n := len(DiffersIn(s, outputField)); n > 0 {
		marks = append(marks, Mark{"red", text.Plural(n, "field differs", "fields differ")})
	}
	if n := len(s.Settlements); n > 0 {
		marks = append(marks, settlementMark(&s.Settlements[n-1]))
	}
	if s.Late != nil {
		marks = append(marks, Mark{"idle", "a late answer"})
	}
	if n := len(s.Probes); n > 0 {
		marks = append(marks, Mark{"idle", map[bool]string{true: "probed once", false: "probed " + strconv.Itoa(n) + " times"}[n == 1]})
	}
	if !r.WaitingFor.NotBefore.IsZero() {
		marks = append(marks, Mark{"idle", "the answer may still come"})
	}
	return marks
}

// settlementMark is the API's newest word in few.
func settlementMark(r *countersign.SettlementRecord) Mark {
	switch {
	case !r.Valid:
		return Mark{"red", "not the API’s word"}
	case r.State == countersign.KeyDone:
		return Mark{"ok", "API: done"}
	case r.State == countersign.KeyWithdrawn:
		return Mark{"ok", "API: never done, key withdrawn"}
	case r.State == countersign.KeyUnseen:
		return Mark{"unc", "API: never seen so far"}
	case r.State == countersign.KeyInProgress:
		return Mark{"unc", "API: still runs"}
	}
	return Mark{"unc", "API: doesn’t know"}
}

// changes are the proposed changes that somebody may still act on.
func changes(v *web.Request, q query) (rows []Row, err error) {
	open, err := v.Control.OpenChanges(v.R.Context(), v.Actor)
	if err != nil {
		return nil, err
	}
	for i := range slices.Backward(open) {
		c := control.Named(v.R.Context(), v.Control, v.Actor, open[i])
		rows = append(rows, changeRow(v, q, &c))
	}
	return rows, nil
}

func changeRow(v *web.Request, q query, c *countersign.ProposedChange) Row {
	row := Row{Kind: Change, ID: c.ID, Href: web.Prefix + q.page(Change, c.ID), Title: c.Title, Where: c.Subject, Who: Name(c.ProposedBy, c.ProposedByName), Since: c.ProposedAt, Expires: c.ExpiresAt}
	weaker := 0
	for _, d := range c.Diff {
		if d.Weakens {
			weaker++
		}
	}
	if weaker > 0 {
		row.Marks = append(row.Marks, Mark{"red", strconv.Itoa(weaker) + " weaker"})
	}
	switch own := c.ProposedBy == v.Actor.ID; {
	case c.Status == countersign.ChangeApproved && own:
		row.Marks = append(row.Marks, Mark{"amb", "approved: make it"})
	case c.Status == countersign.ChangeApproved:
		row.Marks, row.Bar = append(row.Marks, Mark{"idle", "its proposer makes it"}), "approved"
	case own:
		row.Marks, row.Bar = append(row.Marks, Mark{"idle", "somebody else decides"}), "you proposed it"
	default:
		row.Marks = append(row.Marks, Mark{"amb", strconv.Itoa(len(c.Decisions)) + " of " + text.Plural(int(c.ApprovalsNeeded), "administrator", "administrators")})
	}
	return row
}

// laterRows are what the visitor has put off.
func laterRows(v *web.Request, q query) (rows []Row, err error) {
	names, ctx := projectNames(v), v.R.Context()
	lost, err := v.Control.Uncertain(ctx, v.Actor, maxRecoveries)
	if err != nil {
		return nil, err
	}
	for _, id := range laterOf(v) {
		if i := slices.IndexFunc(lost, func(w control.Waiting) bool { return w.Run.ID == id }); i >= 0 {
			rows = append(rows, recoveryRow(q, &lost[i], names))
			continue
		}
		a, err := v.Control.ApprovalAlone(ctx, v.Actor, id)
		switch countersign.ErrorCode(err) {
		case "":
		case countersign.CodeNotFound, countersign.CodeProjectScope:
			continue
		default:
			return nil, err
		}
		if a.Status == countersign.ApprovalPending {
			row := control.InboxRow{Approval: a, Size: int64(len(a.Request.Body.Raw())), Same: len(a.Same)}
			rows = append(rows, approvalRow(v, q, &row, names))
		}
	}
	return rows, nil
}

// DiffersIn is where the newest answer about a step contradicts what was sent.
func DiffersIn(s *countersign.StepRun, outputField string) []countersign.Discrepancy {
	if n := len(s.Probes); n > 0 && !s.Probes[n-1].Output.IsZero() {
		return request.Differs(s.Input, s.Probes[n-1].Output, outputField)
	}
	if s.Late != nil {
		return request.Differs(s.Input, s.Late.Output, outputField)
	}
	return nil
}
