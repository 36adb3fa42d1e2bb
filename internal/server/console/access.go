package console

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// Access pages: users, tokens and, for realm administrators, tenants.

// accessFunctions are the functions of the templates of who may do what.
var accessFunctions = template.FuncMap{"webhookState": webhookState}

// accessRoutes are the pages of who may do what, of the visitor's own account and of signing
// in; provider is nil without an identity provider.
func accessRoutes(provider Verifier) []route {
	return slices.Concat(identityRoutes(), verifierRoutes(provider), passkeyRoutes(), userRoutes(), groupRoutes(), webhookRoutes(), settingRoutes())
}

func userRoutes() []route {
	return []route{
		{method: "GET", path: "/access", page: usersPage},
		{method: "GET", path: "/access/users/new", page: newUserPage},
		{method: "POST", path: "/access/users/new", act: addUser},
		{method: "GET", path: "/access/users/{email}", page: userPage},
		{method: "POST", path: "/access/users/{email}", act: changeUser},
		{method: "POST", path: "/access/users/{email}/sign-in-link", act: makeLink},
		{method: "GET", path: "/access/users/{email}/remove", page: removeUserPage},
		{method: "POST", path: "/access/users/{email}/remove", act: removeUser},
		{method: "GET", path: "/access/tokens", page: tokensPage},
		{method: "GET", path: "/access/tokens/new", page: newTokenPage},
		{method: "POST", path: "/access/tokens/new", act: makeToken},
		{method: "GET", path: "/access/tokens/{id}/revoke", page: revokeTokenPage},
		{method: "POST", path: "/access/tokens/{id}/revoke", act: revokeToken},
		{method: "GET", path: "/access/tenants", page: tenantsPage},
		{method: "GET", path: "/access/tenants/new", page: newTenantPage},
		{method: "POST", path: "/access/tenants/new", act: makeTenant},
		{method: "GET", path: "/access/tenants/{id}", page: tenantPage},
		{method: "POST", path: "/access/tenants/{id}", act: renameTenant},
	}
}

// realm is the part that all access pages share: the tabs and the tenant that the page
// is about. Only a realm administrator may look at another tenant.
type realm struct {
	Tabs    []filter
	Tenant  string // that the page is about
	Foreign bool   // it isn't the visitor's own
	Query   string // "?tenant=…" for another tenant, else ""
}

func realmOf(v *pageRequest, tab string) realm {
	r := realm{Tenant: tenantAsked(v)}
	r.Foreign = r.Tenant != v.actor.Tenant
	if r.Foreign {
		r.Query = "?tenant=" + url.QueryEscape(r.Tenant)
	}
	if v.can(access.ReadUsers) {
		r.Tabs = userTabs(v, tab, r.Query)
	}
	if !r.Foreign {
		r.Tabs = append(r.Tabs, filter{Word: "Groups", Href: Prefix + "/access/groups", Here: tab == "groups"})
	}
	if !r.Foreign && v.can(access.ReadWebhooks) {
		r.Tabs = append(r.Tabs, filter{Word: "Webhooks", Href: Prefix + "/access/webhooks", Here: tab == "webhooks"})
	}
	if v.can(access.ReadTenants) {
		r.Tabs = append(r.Tabs, filter{Word: "Tenants", Href: Prefix + "/access/tenants", Here: tab == "tenants"})
	}
	return r
}

func userTabs(v *pageRequest, tab, query string) []filter {
	return []filter{
		{Word: "Users", Href: Prefix + "/access" + query, Here: tab == "users"},
		{Word: "Tokens", Href: Prefix + "/access/tokens" + query, Here: tab == "tokens"},
	}
}

// tenantAsked is the tenant that the form or the address names, by default the
// visitor's.
func tenantAsked(v *pageRequest) string {
	return cmp.Or(v.form("tenant"), v.query("tenant"), v.actor.Tenant)
}

func accessPage(v *pageRequest, name, title string, data any, way ...crumb) *page {
	crumbs := append([]crumb{{Word: "Access", Href: "/access"}}, way...)
	if title == "Access" {
		crumbs = []crumb{{Word: "Access"}}
	}
	return &page{name: name, Title: title, Nav: "access", Crumbs: crumbs, Data: data}
}

// grant is the part of a form that gives a user or a token roles and projects.
type grant struct {
	Roles    []choice
	Reach    string // all, some; "" while nothing is chosen
	Projects []choice
	More     string // typed project IDs, where the tenant's projects can't be listed
	CanList  bool
	RolesErr string
	ReachErr string
}

var roleHints = []choice{
	{Value: "ADMIN", Word: "Admin", Note: "Registers projects, admits agents, suspends, and manages users and tokens."},
	{Value: "OPERATOR", Word: "Operator", Note: "Stores models, compiles plans, starts and cancels runs."},
	{Value: "APPROVER", Word: "Approver", Note: "Decides approvals and resolves what is uncertain, but never what they asked for themselves."},
	{Value: "VIEWER", Word: "Viewer", Note: "Reads only. Every other role reads too."},
}

// grantForm lists the roles and projects and marks those already given.
func grantForm(v *pageRequest, tenant string, roles []countersign.Role, reach string, projects []string) grant {
	g := grant{Reach: reach, CanList: tenant == v.actor.Tenant}
	for _, c := range roleHints {
		c.Chosen = slices.Contains(roles, countersign.Role(c.Value))
		g.Roles = append(g.Roles, c)
	}
	if !g.CanList {
		g.More = strings.Join(projects, " ")
		return g
	}
	g.Projects = projectChoices(v, projects)
	return g
}

// projectChoices are the tenant's projects, and given ones that no longer exist.
func projectChoices(v *pageRequest, given []string) []choice {
	on := map[string]bool{}
	for _, id := range given {
		on[id] = true
	}
	var out []choice
	if page, err := control.ListProjects(v.r.Context(), v.control, v.actor, control.List{Limit: countersign.MaxPageLimit}, projectRowOf); err == nil {
		for _, p := range page.Items {
			out = append(out, choice{Value: p.ID, Word: p.Name, Chosen: on[p.ID]})
			delete(on, p.ID)
		}
	}
	for _, id := range given {
		if on[id] {
			out = append(out, choice{Value: id, Word: "no such project now", Chosen: true})
		}
	}
	return out
}

// granted reads a grant from the form and reports missing fields. Access to all
// projects must be chosen: selecting none doesn't mean all.
func granted(v *pageRequest) (grant, []countersign.Role, []string) {
	var roles []countersign.Role
	for _, r := range v.r.PostForm["roles"] {
		roles = append(roles, countersign.Role(r))
	}
	projects := append([]string{}, v.r.PostForm["projects"]...)
	projects = append(projects, strings.FieldsFunc(v.form("more"), func(r rune) bool { return r <= ' ' || r == ',' })...)
	g := grantForm(v, tenantAsked(v), roles, v.form("reach"), projects)
	if len(roles) == 0 {
		g.RolesErr = "Choose at least one role."
	}
	switch {
	case g.Reach != "all" && g.Reach != "some":
		g.ReachErr = "Say how far it reaches."
	case g.Reach == "some" && len(projects) == 0:
		g.ReachErr = "Name at least one project, or choose all."
	}
	if g.Reach == "all" {
		projects = nil
	}
	return g, roles, projects
}

func (g grant) wrong() bool { return g.RolesErr != "" || g.ReachErr != "" }

func reachOf(projects []string) string {
	if projects == nil {
		return "all"
	}
	return "some"
}

// accessData is a list of a tab below Access.
type accessData[T any] struct {
	realm
	Items []T
	Pager pager
}

func accessList[T any](v *pageRequest, tab string, read func(control.List) (countersign.Page[T], error)) (*page, error) {
	l := v.list()
	found, err := read(l)
	if err != nil {
		return nil, err
	}
	d := accessData[T]{realmOf(v, tab), found.Items, v.pager(l, len(found.Items), found.Total, found.NextOffset)}
	return accessPage(v, tab, "Access", d), nil
}
