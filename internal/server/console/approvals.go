package console

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

func approvalRoutes() []route {
	return []route{
		{method: "GET", path: "/approvals", page: approvalsPage},
		{method: "GET", path: "/approvals/{id}", page: approvalPage},
		{method: "POST", path: "/approvals/{id}/decision", act: decideApproval},
	}
}

// approvalRow is one approval of the inbox.
type approvalRow struct {
	countersign.Approval
	Host    string
	Waiting bool
}

type approvalsData struct {
	Filters []filter
	Rows    []approvalRow
	Pager   pager
	Waiting bool // the list is filtered to pending approvals
}

// approvalsPage is the inbox. By default it lists pending approvals, oldest first, so that
// the next to expire leads; the filters list decided ones, or all, newest first.
func approvalsPage(v *pageRequest) (*page, error) {
	status, chosen := approvalStatus(v.query("status"))
	waiting := status == countersign.ApprovalPending
	l := v.list()
	f := control.ApprovalFilter{Status: string(status), OldestFirst: waiting}
	found, err := control.ListApprovals(v.r.Context(), v.control, v.actor, l, f, func(a countersign.Approval) (approvalRow, error) {
		return approvalRow{Approval: control.WithoutContent(a), Host: sentOf("", a.Request).Host, Waiting: a.Status == countersign.ApprovalPending}, nil
	})
	if err != nil {
		return nil, err
	}
	d := approvalsData{Filters: approvalFilters(v, chosen), Pager: v.pager(l, len(found.Items), found.Total, found.NextOffset), Waiting: waiting, Rows: found.Items}
	return &page{name: "approvals", Title: "Approvals", Nav: "approvals", Crumbs: []crumb{{Word: "Approvals"}}, Data: d}, nil
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

func approvalFilters(v *pageRequest, chosen string) []filter {
	out := make([]filter, len(approvalChoices))
	for i, c := range approvalChoices {
		out[i] = filter{Word: c.word, Here: c.value == chosen, Href: v.withParam("status", c.value)}
	}
	return out
}
