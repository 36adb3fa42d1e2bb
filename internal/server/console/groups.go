package console

import (
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// The pages of groups, whom approval rules name, and of who decides in whose place. Every
// role reads them; an ADMIN edits groups, and a user delegates by themself.

func groupRoutes() []route {
	return []route{
		{method: "GET", path: "/access/groups", page: groupsPage},
		{method: "GET", path: "/access/groups/new", page: newGroupPage},
		{method: "POST", path: "/access/groups/new", act: makeGroup},
		{method: "GET", path: "/access/groups/{id}", page: groupPage},
		{method: "POST", path: "/access/groups/{id}", act: changeGroup},
		{method: "POST", path: "/access/groups/{id}/delete", act: deleteGroup},
		{method: "GET", path: "/access/away", page: awayPage},
		{method: "POST", path: "/access/away", act: delegate},
		{method: "POST", path: "/access/away/{email}/end", act: endDelegation},
	}
}

type groupsData struct {
	realm
	Groups []countersign.Group
	Away   []away
	Pager  pager
}

// away is a delegation, and whether the visitor may end it.
type away struct {
	countersign.Delegation
	Over bool
	Mine bool
}

func groupsPage(v *pageRequest) (*page, error) {
	l := v.list()
	found, err := v.control.Groups(v.r.Context(), v.actor, l)
	if err != nil {
		return nil, err
	}
	d := groupsData{realm: realmOf(v, "groups"), Groups: found.Items, Pager: v.pager(l, len(found.Items), found.Total, found.NextOffset)}
	delegations, err := v.control.Delegations(v.r.Context(), v.actor, control.List{Limit: countersign.MaxPageLimit})
	if err != nil {
		return nil, err
	}
	for _, x := range delegations.Items {
		d.Away = append(d.Away, away{Delegation: x, Over: !v.now.Before(x.Until), Mine: x.User == v.actor.Email || v.can(access.WriteGroup)})
	}
	return accessPage(v, "groups", "Access", d), nil
}

// groupForm is a form of a group or a delegation.
type groupForm struct {
	realm
	Group   countersign.Group // zero for a new one
	To      string            // where the form goes
	Word    string            // of its button
	Fields  []field
	Says    string
	Problem *problem
	Over    bool // revision conflict
}

func newGroupPage(v *pageRequest) (*page, error) { return showGroup(v, countersign.Group{}, nil) }

func groupPage(v *pageRequest) (*page, error) { return storedGroup(v, nil) }

func storedGroup(v *pageRequest, err error) (*page, error) {
	g, unread := v.control.Group(v.r.Context(), v.actor, v.r.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	return showGroup(v, g, err)
}

func showGroup(v *pageRequest, g countersign.Group, err error) (*page, error) {
	if err := v.may(access.WriteGroup); err != nil {
		return nil, err
	}
	s := formOf(v, err, "")
	d := groupForm{realm: realmOf(v, "groups"), Group: g, To: "/access/groups/new", Word: "Save", Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict,
		Says: "Someone who leaves a group no longer counts for pending approvals."}
	if g.ID == "" {
		d.Fields = append(d.Fields, must(s.mono("id", "Id", "Rules name it. Letters, digits, dots, underscores and hyphens; it never changes.", "")))
	} else {
		d.To = "/access/groups/" + url.PathEscape(g.ID)
	}
	d.Fields = append(d.Fields,
		must(s.line("name", "Name", "", g.Name)),
		s.area("members", "Members", "E-mail addresses of users, one a line.", strings.Join(g.Members, "\n"), max(4, len(g.Members)+1)),
		s.mono("claim", "Claim of the identity provider", "For example groups=finance: anyone whose last sign-in had it is a member, too.", g.Claim))
	d.Problem = s.problem()
	title := "Add a group"
	if g.ID != "" {
		title = "Group " + g.ID
	}
	return accessPage(v, "group", title, d, crumb{Word: "Groups", Href: "/access/groups"}, crumb{Word: title}), nil
}

func makeGroup(v *pageRequest) (string, error) {
	id := v.form("id")
	err := v.newID("name")
	if err == nil {
		err = putGroup(v, id, 0)
	}
	err = taken(err, "group", id)
	if err == nil {
		return "/access/groups", nil
	}
	return "", formAgain(err, func(err error) (*page, error) { return showGroup(v, countersign.Group{}, err) })
}

func changeGroup(v *pageRequest) (string, error) {
	err := v.chosen("name")
	if err == nil {
		err = putGroup(v, v.r.PathValue("id"), v.formRevision())
	}
	if err == nil {
		return "/access/groups", nil
	}
	return "", v.formAgain(err, storedGroup)
}

func putGroup(v *pageRequest, id string, revision int64) error {
	w := countersign.GroupWrite{Name: v.form("name"), Members: strings.FieldsFunc(v.form("members"), func(r rune) bool { return strings.ContainsRune("\r\n,; ", r) }), Claim: v.form("claim"), ExpectedRevision: revision}
	_, err := v.control.PutGroup(v.r.Context(), v.actor, id, w)
	return err
}

func deleteGroup(v *pageRequest) (string, error) {
	if _, err := v.control.DeleteGroup(v.r.Context(), v.actor, v.r.PathValue("id")); err != nil {
		return "", v.formAgain(err, storedGroup)
	}
	return "/access/groups", nil
}

func awayPage(v *pageRequest) (*page, error) { return awayForm(v, nil) }

func awayForm(v *pageRequest, err error) (*page, error) {
	s := formOf(v, err, "")
	d := groupForm{realm: realmOf(v, "groups"), To: "/access/away", Word: "Delegate",
		Says: "The delegate decides in their own name, for the groups of the person who is away, and only while that person could decide. An earlier delegation of the same user ends."}
	if v.can(access.WriteGroup) {
		d.Fields = append(d.Fields, must(s.line("email", "Who is away", "The e-mail address of a user.", v.actor.Email)))
	}
	d.Fields = append(d.Fields,
		must(s.line("delegate", "Who decides instead", "The e-mail address of a user with the role APPROVER.", "")),
		s.mono("from", "First day", "Such as 2026-12-24, in UTC. Default: now.", ""),
		must(s.mono("until", "Last day", "Such as 2026-12-31, in UTC; at most 90 days.", "")),
		must(s.line("reason", "Why", "", "")))
	d.Problem = s.problem()
	return accessPage(v, "group", "Delegate decisions", d, crumb{Word: "Groups", Href: "/access/groups"}, crumb{Word: "Delegate"}), nil
}

func delegate(v *pageRequest) (string, error) {
	email := v.actor.Email
	if v.can(access.WriteGroup) {
		email = v.form("email")
	}
	from, bad := dayOf("from", v.form("from"))
	until, worse := dayOf("until", v.form("until"))
	err := together(v.chosen("delegate", "until"), bad, worse)
	if err == nil {
		w := countersign.DelegationWrite{Delegate: v.form("delegate"), From: from, Until: until.AddDate(0, 0, 1), Reason: v.form("reason")}
		_, err = v.control.PutDelegation(v.r.Context(), v.actor, email, w)
	}
	if err == nil {
		return "/access/groups#away", nil
	}
	return "", v.formAgain(err, awayForm)
}

// dayOf reads a day, zero for none.
func dayOf(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, invalid(name, "a day such as 2026-12-31")
	}
	return day, nil
}

func endDelegation(v *pageRequest) (string, error) {
	_, err := v.control.EndDelegation(v.r.Context(), v.actor, v.r.PathValue("email"))
	return "/access/groups#away", err
}
