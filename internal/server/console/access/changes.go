package access

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The pages of changes that weaken, and that several administrators decide.

func changeRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/changes", Page: changesPage},
		{Method: "GET", Path: "/changes/{id}", Page: changePage},
		{Method: "POST", Path: "/changes/{id}/decision", Act: decideChange},
		{Method: "POST", Path: "/changes/{id}/withdraw", Act: withdrawChange},
		{Method: "POST", Path: "/changes/{id}/make", Act: makeChange},
	}
}

type changesData struct {
	Changes []countersign.ProposedChange
	Set     bool // the tenant wants several to decide
	Pager   web.Pager
}

func changesPage(v *web.Request) (*web.Page, error) {
	l := v.List()
	found, err := v.Control.Changes(v.R.Context(), v.Actor, l)
	if err != nil {
		return nil, err
	}
	settings, err := v.Control.Settings(v.R.Context(), v.Actor)
	if err != nil {
		return nil, err
	}
	d := changesData{Changes: found.Items, Set: settings.Weakening != nil, Pager: v.Pager(l, len(found.Items), found.Total, found.NextOffset)}
	return &web.Page{Name: "changes", Title: "Changes", Nav: "desk", Crumbs: []web.Crumb{{Word: "Decide", Href: "/desk?in=changes"}, {Word: "Changes"}}, Data: d}, nil
}

// changeData is one change, and what the visitor may do with it.
type changeData struct {
	countersign.ProposedChange
	Weaker  int
	Own     bool // the visitor proposed it
	Open    bool // PROPOSED
	Secret  bool // it waits to be made by its proposer
	Signing control.Signing
	Desk    *desk.Rail // what else waits
	Reason  string
	Problem *web.Problem
}

func changePage(v *web.Request) (*web.Page, error) { return showChange(v, nil) }

func showChange(v *web.Request, refused error) (*web.Page, error) {
	id := v.R.PathValue("id")
	c, err := v.Control.Change(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil, err
	}
	d := changeData{ProposedChange: control.Named(v.R.Context(), v.Control, v.Actor, c), Own: c.ProposedBy == v.Actor.ID, Open: c.Status == countersign.ChangeProposed, Reason: v.Form("reason")}
	d.Secret = d.Own && c.Status == countersign.ChangeApproved
	for _, x := range c.Diff {
		if x.Weakens {
			d.Weaker++
		}
	}
	if d.Signing, err = v.Control.ChangeSigning(v.R.Context(), v.Actor); err != nil {
		return nil, err
	}
	if d.Desk, err = desk.Of(v, desk.Change, id); err != nil {
		return nil, err
	}
	p := &web.Page{Name: "change", Title: c.Title, Nav: "desk", Desk: true, Crumbs: desk.Crumbs(desk.Change, web.Crumb{Word: id, ID: true}), Data: &d}
	if e := web.RefusalOf(refused); e != nil {
		d.Problem, p.Status = web.ProblemOf(e), e.Code.Status()
	}
	return p, nil
}

// again shows the page again after a refusal.
func again(v *web.Request, refused error) error {
	if web.RefusalOf(refused) == nil {
		return refused
	}
	p, err := showChange(v, refused)
	if err != nil {
		return refused
	}
	return p
}

func decideChange(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.DecideChange, "change/"+id); err != nil {
		return "", again(v, err)
	}
	d := countersign.ChangeDecision{Decision: countersign.ApprovalStatus(v.Form("decision")), Reason: v.Form("reason")}
	if text := v.Form("assertion"); text != "" {
		if err := exactjson.Decode([]byte(text), &d.Assertion); err != nil || d.Assertion == nil {
			return "", again(v, countersign.Errorf(countersign.CodeAssertionInvalid, "assertion: the browser's answer can't be read; reload the page and approve it again"))
		}
	}
	if _, err := v.Control.DecideChange(v.R.Context(), v.Actor, id, d); err != nil {
		return "", again(v, err)
	}
	return desk.Onward(v, desk.Change, id, "/changes/"+id), nil
}

func withdrawChange(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if _, err := v.Control.WithdrawChange(v.R.Context(), v.Actor, id, countersign.ChangeWithdrawal{Reason: v.Form("reason")}); err != nil {
		return "", again(v, err)
	}
	return "/changes/" + id, nil
}

// makeChange shows the secret that an approved change answers, once.
func makeChange(v *web.Request) (string, error) {
	made, err := v.Control.MakeChange(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return "", again(v, err)
	}
	out := &web.Page{Name: "change-made", Title: "Made", Nav: "access", Crumbs: []web.Crumb{{Word: "Changes", Href: "/changes"}, {Word: "Made"}}, Status: http.StatusCreated}
	switch made := made.(type) {
	case countersign.NewToken:
		out.Data = map[string]string{"What": "token", "Secret": made.Secret}
	case countersign.SignInLink:
		out.Data = map[string]string{"What": "sign-in link", "Secret": linkAddress(v, made.URL)}
	}
	return "", out
}

func linkAddress(v *web.Request, secret string) string {
	return v.Config.BaseURL + web.Prefix + "/sign-in/link?link=" + secret
}
