package desk

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Routes are the pages of the desk.
func Routes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/desk", Page: deskPage},
		{Method: "GET", Path: "/desk/group/{id}", Page: groupPage},
		{Method: "POST", Path: "/desk/later", Act: putOff},
		{Method: "GET", Path: "/desk/events", Stream: events},
		{Method: "GET", Path: "/desk/row", Stream: rowAlone},
		{Method: "GET", Path: "/desk/last", Stream: lastAlone},
	}
}

// Data is the page of the list alone.
type Data struct {
	Desk  *Rail
	Group *Group
	Gone  bool // the group that was asked for is none any more
}

func deskPage(v *web.Request) (*web.Page, error) {
	rail, err := Of(v, "", "")
	if err != nil {
		return nil, err
	}
	return &web.Page{Name: "desk", Title: "Decide", Nav: "desk", Desk: true, Crumbs: []web.Crumb{{Word: "Decide"}}, Data: &Data{Desk: rail}}, nil
}

// Crumbs lead from the desk to one of a kind.
func Crumbs(kind string, last web.Crumb) []web.Crumb {
	word := map[string]string{Approval: "Approvals", Recovery: "Recovery", Change: "Changes"}[kind]
	in := map[string]string{Approval: "", Recovery: "?in=" + inRecovery, Change: "?in=" + inChanges}[kind]
	return []web.Crumb{{Word: "Decide", Href: "/desk"}, {Word: word, Href: "/desk" + in}, last}
}

// rowAlone is one row as it is now, for a script: what was decided meanwhile stays where it is,
// and says so.
func rowAlone(v *web.Request) error {
	kind, id, _ := strings.Cut(v.Query("of"), "/")
	row := Row{Kind: kind, ID: id}
	switch kind {
	case Approval:
		a, err := v.Control.ApprovalAlone(v.R.Context(), v.Actor, id)
		if err != nil {
			return err
		}
		in := control.InboxRow{Approval: a, Size: int64(len(a.Request.Body.Raw())), Same: len(a.Same)}
		in.Given = given(&a)
		row = approvalRow(v, queryOf(v), &in, projectNames(v))
		if a.Status != countersign.ApprovalPending {
			row.Marks, row.Done = nil, doneWords(v, &a)
		}
	case Recovery:
		r, err := v.Control.Run(v.R.Context(), v.Actor, id)
		if err != nil {
			return err
		}
		row = recoveryRow(queryOf(v), &control.Waiting{Run: r}, projectNames(v))
		if r.Status != countersign.RunRecoveryRequired || r.WaitingFor == nil || r.WaitingFor.Kind != countersign.WaitReconcile {
			row.Marks, row.Done = nil, "Recorded; the run is "+strings.ToLower(text.RunState(r).Word)
			for i := range r.Steps {
				if s := &r.Steps[i]; s.Reconciliation != nil || s.SettledBy != nil {
					row.Title = text.NameOf(s)
				}
			}
		}
	default:
		return countersign.Errorf(countersign.CodeNotFound, "there is no such row")
	}
	return fragment(v, "desk-row", &row)
}

// given is how many approvals of an approval count.
func given(a *countersign.Approval) (n int) {
	for _, d := range a.Decisions {
		if d.Decision == countersign.ApprovalApproved && !d.Left {
			n++
		}
	}
	return n
}

func doneWords(v *web.Request, a *countersign.Approval) string {
	word := map[countersign.ApprovalStatus]string{countersign.ApprovalApproved: "Approved", countersign.ApprovalRejected: "Rejected"}[a.Status]
	if a.Superseded {
		return "Asked again: the state changed"
	}
	return cmp.Or(word, "Decided") + " by " + byWhom(v, a.DecidedBy, a.DecidedByName)
}

// lastAlone is what became of what was decided before, for a script.
func lastAlone(v *web.Request) error { return fragment(v, "desk-last", lastOf(v, v.Query("of"))) }

// fragment writes a part of the desk's page.
func fragment(v *web.Request, block string, data any) error {
	var b bytes.Buffer
	if err := v.Pages.Execute(&b, "desk", block, web.Piece{Frame: web.Frame{Page: &web.Page{Name: "desk"}, Request: v, Actor: v.Actor}, Of: data}); err != nil {
		return err
	}
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	if v.R.Method != http.MethodHead {
		_, _ = v.W.Write(b.Bytes()) // the visitor may have disconnected
	}
	return nil
}
