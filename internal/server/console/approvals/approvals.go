package approvals

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Routes are the pages of approvals.
func Routes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/approvals", Page: approvalsPage},
		{Method: "GET", Path: "/approvals/{id}", Page: approvalPage},
		{Method: "POST", Path: "/approvals/{id}/decision", Act: decideApproval},
		{Method: "POST", Path: "/approvals/{id}/look", Act: lookAgain},
	}
}

// approvalRow is one approval of the inbox.
type approvalRow struct {
	countersign.Approval
	Host    string
	Waiting bool
}

type approvalsData struct {
	Filters []web.Filter
	Rows    []approvalRow
	Pager   web.Pager
	Waiting bool // the list is filtered to pending approvals
}

// approvalsPage is the inbox. By default it lists pending approvals, oldest first, so that
// the next to expire leads; the filters list decided ones, or all, newest first.
func approvalsPage(v *web.Request) (*web.Page, error) {
	status, chosen := approvalStatus(v.Query("status"))
	waiting := status == countersign.ApprovalPending
	l := v.List()
	f := control.ApprovalFilter{Status: string(status), OldestFirst: waiting}
	found, err := control.ListApprovals(v.R.Context(), v.Control, v.Actor, l, f, func(a countersign.Approval) (approvalRow, error) {
		return approvalRow{Approval: control.WithoutContent(a), Host: drawn.SentOf("", a.Request).Host, Waiting: a.Status == countersign.ApprovalPending}, nil
	})
	if err != nil {
		return nil, err
	}
	d := approvalsData{Filters: approvalFilters(v, chosen), Pager: v.Pager(l, len(found.Items), found.Total, found.NextOffset), Waiting: waiting, Rows: found.Items}
	return &web.Page{Name: "approvals", Title: "Approvals", Nav: "desk", Crumbs: []web.Crumb{{Word: "Decide", Href: "/desk"}, {Word: "Approvals"}}, Data: d}, nil
}

// approvalChoices are the inbox's filters; the first is the default.
var approvalChoices = []struct {
	value  string
	status countersign.ApprovalStatus
	word   string
}{
	{"", countersign.ApprovalPending, "Waiting"},
	{"APPROVED", countersign.ApprovalApproved, "Approved"},
	{"REJECTED", countersign.ApprovalRejected, "Rejected"},
	{"all", "", "All"},
}

func approvalStatus(asked string) (status countersign.ApprovalStatus, chosen string) {
	for _, c := range approvalChoices {
		if c.value == asked {
			return c.status, c.value
		}
	}
	return countersign.ApprovalPending, ""
}

func approvalFilters(v *web.Request, chosen string) []web.Filter {
	out := make([]web.Filter, len(approvalChoices))
	for i, c := range approvalChoices {
		out[i] = web.Filter{Word: c.word, Here: c.value == chosen, Href: v.WithParam("status", c.value)}
	}
	return out
}
