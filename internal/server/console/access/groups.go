package access

import (
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The pages of groups, whom approval rules name, and of who decides in whose place. Every
// role reads them; an ADMIN edits groups, and a user delegates by themself.

func groupRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/access/groups", Page: groupsPage},
		{Method: "GET", Path: "/access/groups/new", Page: newGroupPage},
		{Method: "POST", Path: "/access/groups/new", Act: makeGroup},
		{Method: "GET", Path: "/access/groups/{id}", Page: groupPage},
		{Method: "POST", Path: "/access/groups/{id}", Act: changeGroup},
		{Method: "POST", Path: "/access/groups/{id}/delete", Act: deleteGroup},
		{Method: "GET", Path: "/access/away", Page: awayPage},
		{Method: "POST", Path: "/access/away", Act: delegate},
		{Method: "POST", Path: "/access/away/{email}/end", Act: endDelegation},
	}
}

type groupsData struct {
	realm
	Groups []countersign.Group
	Away   []away
	Pager  web.Pager
}

// away is a delegation, and whether the visitor may end it.
type away struct {
	countersign.Delegation
	Over bool
	Mine bool
}

func groupsPage(v *web.Request) (*web.Page, error) {
	l := v.List()
	found, err := v.Control.Groups(v.R.Context(), v.Actor, l)
	if err != nil {
		return nil, err
	}
	d := groupsData{realm: realmOf(v, "groups"), Groups: found.Items, Pager: v.Pager(l, len(found.Items), found.Total, found.NextOffset)}
	delegations, err := v.Control.Delegations(v.R.Context(), v.Actor, control.List{Limit: countersign.MaxPageLimit})
	if err != nil {
		return nil, err
	}
	for _, x := range delegations.Items {
		d.Away = append(d.Away, away{Delegation: x, Over: !v.Now.Before(x.Until), Mine: x.User == v.Actor.Email || v.Can(access.WriteGroup)})
	}
	return accessPage("groups", "Access", d), nil
}

// groupForm is a form of a group or a delegation.
type groupForm struct {
	realm
	Group   countersign.Group // zero for a new one
	To      string            // where the form goes
	Word    string            // of its button
	Fields  []form.Field
	Says    string
	Problem *web.Problem
	Over    bool // revision conflict
}

func newGroupPage(v *web.Request) (*web.Page, error) { return showGroup(v, countersign.Group{}, nil) }

func groupPage(v *web.Request) (*web.Page, error) { return storedGroup(v, nil) }

func storedGroup(v *web.Request, err error) (*web.Page, error) {
	g, unread := v.Control.Group(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	return showGroup(v, g, err)
}

func showGroup(v *web.Request, g countersign.Group, err error) (*web.Page, error) {
	if err := v.May(access.WriteGroup); err != nil {
		return nil, err
	}
	s := form.Of(v, err, "")
	d := groupForm{realm: realmOf(v, "groups"), Group: g, To: "/access/groups/new", Word: "Save", Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict,
		Says: "Someone who leaves a group no longer counts for pending approvals."}
	if g.ID == "" {
		d.Fields = append(d.Fields, form.Must(s.Mono("id", "Id", "Rules name it. Letters, digits, dots, underscores and hyphens; it never changes.", "")))
	} else {
		d.To = "/access/groups/" + url.PathEscape(g.ID)
	}
	d.Fields = append(d.Fields,
		form.Must(s.Line("name", "Name", "", g.Name)),
		s.Area("members", "Members", "E-mail addresses of users, one a line.", strings.Join(g.Members, "\n"), max(4, len(g.Members)+1)),
		s.Mono("claim", "Claim of the identity provider", "For example groups=finance: anyone whose last sign-in had it is a member, too.", g.Claim))
	d.Problem = s.Problem()
	title := "Add a group"
	if g.ID != "" {
		title = "Group " + g.ID
	}
	return accessPage("group", title, d, web.Crumb{Word: "Groups", Href: "/access/groups"}, web.Crumb{Word: title}), nil
}

func makeGroup(v *web.Request) (string, error) {
	id := v.Form("id")
	err := v.NewID("name")
	if err == nil {
		err = putGroup(v, id, 0)
	}
	err = web.Taken(err, "group", id)
	if err == nil {
		return "/access/groups", nil
	}
	return "", web.FormAgain(err, func(err error) (*web.Page, error) { return showGroup(v, countersign.Group{}, err) })
}

func changeGroup(v *web.Request) (string, error) {
	err := v.Chosen("name")
	if err == nil {
		err = putGroup(v, v.R.PathValue("id"), v.FormRevision())
	}
	if err == nil {
		return "/access/groups", nil
	}
	return "", v.FormAgain(err, storedGroup)
}

func putGroup(v *web.Request, id string, revision int64) error {
	w := countersign.GroupWrite{Name: v.Form("name"), Members: strings.FieldsFunc(v.Form("members"), func(r rune) bool { return strings.ContainsRune("\r\n,; ", r) }), Claim: v.Form("claim"), ExpectedRevision: revision}
	_, err := v.Control.PutGroup(v.R.Context(), v.Actor, id, w)
	return err
}

func deleteGroup(v *web.Request) (string, error) {
	if _, err := v.Control.DeleteGroup(v.R.Context(), v.Actor, v.R.PathValue("id")); err != nil {
		return "", v.FormAgain(err, storedGroup)
	}
	return "/access/groups", nil
}

func awayPage(v *web.Request) (*web.Page, error) { return awayForm(v, nil) }

func awayForm(v *web.Request, err error) (*web.Page, error) {
	s := form.Of(v, err, "")
	d := groupForm{realm: realmOf(v, "groups"), To: "/access/away", Word: "Delegate",
		Says: "The delegate decides in their own name, for the groups of the person who is away, and only while that person could decide. An earlier delegation of the same user ends."}
	if v.Can(access.WriteGroup) {
		d.Fields = append(d.Fields, form.Must(s.Line("email", "Who is away", "The e-mail address of a user.", v.Actor.Email)))
	}
	d.Fields = append(d.Fields,
		form.Must(s.Line("delegate", "Who decides instead", "The e-mail address of a user with the role APPROVER.", "")),
		s.Mono("from", "First day", "Such as 2026-12-24, in UTC. Default: now.", ""),
		form.Must(s.Mono("until", "Last day", "Such as 2026-12-31, in UTC; at most 90 days.", "")),
		form.Must(s.Line("reason", "Why", "", "")))
	d.Problem = s.Problem()
	return accessPage("group", "Delegate decisions", d, web.Crumb{Word: "Groups", Href: "/access/groups"}, web.Crumb{Word: "Delegate"}), nil
}

func delegate(v *web.Request) (string, error) {
	email := v.Actor.Email
	if v.Can(access.WriteGroup) {
		email = v.Form("email")
	}
	from, bad := dayOf("from", v.Form("from"))
	until, worse := dayOf("until", v.Form("until"))
	err := web.Together(v.Chosen("delegate", "until"), bad, worse)
	if err == nil {
		w := countersign.DelegationWrite{Delegate: v.Form("delegate"), From: from, Until: until.AddDate(0, 0, 1), Reason: v.Form("reason")}
		_, err = v.Control.PutDelegation(v.R.Context(), v.Actor, email, w)
	}
	if err == nil {
		return "/access/groups#away", nil
	}
	return "", v.FormAgain(err, awayForm)
}

// dayOf reads a day, zero for none.
func dayOf(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, web.Invalid(name, "a day such as 2026-12-31")
	}
	return day, nil
}

func endDelegation(v *web.Request) (string, error) {
	_, err := v.Control.EndDelegation(v.R.Context(), v.Actor, v.R.PathValue("email"))
	return "/access/groups#away", err
}
