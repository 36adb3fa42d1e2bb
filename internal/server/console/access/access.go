package access

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Access pages: users, tokens and, for realm administrators, tenants.

// Functions are the functions of the templates of who may do what.
var Functions = template.FuncMap{"webhookState": webhookState}

// Routes are the pages of who may do what, of the visitor's own account and of signing
// in; provider is nil without an identity provider.
func Routes(provider web.Verifier) []web.Route {
	return slices.Concat(identityRoutes(), verifierRoutes(provider), passkeyRoutes(), userRoutes(), groupRoutes(), changeRoutes(), webhookRoutes(), settingRoutes())
}

func userRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/access", Page: usersPage},
		{Method: "GET", Path: "/access/users/new", Page: newUserPage},
		{Method: "POST", Path: "/access/users/new", Act: addUser},
		{Method: "GET", Path: "/access/users/{email}", Page: userPage},
		{Method: "POST", Path: "/access/users/{email}", Act: changeUser},
		{Method: "POST", Path: "/access/users/{email}/sign-in-link", Act: makeLink},
		{Method: "GET", Path: "/access/users/{email}/remove", Page: removeUserPage},
		{Method: "POST", Path: "/access/users/{email}/remove", Act: removeUser},
		{Method: "GET", Path: "/access/tokens", Page: tokensPage},
		{Method: "GET", Path: "/access/tokens/new", Page: newTokenPage},
		{Method: "POST", Path: "/access/tokens/new", Act: makeToken},
		{Method: "GET", Path: "/access/tokens/{id}/revoke", Page: revokeTokenPage},
		{Method: "POST", Path: "/access/tokens/{id}/revoke", Act: revokeToken},
		{Method: "GET", Path: "/access/tenants", Page: tenantsPage},
		{Method: "GET", Path: "/access/tenants/new", Page: newTenantPage},
		{Method: "POST", Path: "/access/tenants/new", Act: makeTenant},
		{Method: "GET", Path: "/access/tenants/{id}", Page: tenantPage},
		{Method: "POST", Path: "/access/tenants/{id}", Act: renameTenant},
	}
}

// realm is the part that all access pages share: the tabs and the tenant that the page
// is about. Only a realm administrator may look at another tenant.
type realm struct {
	Tabs    []web.Filter
	Tenant  string // that the page is about
	Foreign bool   // it isn't the visitor's own
	Query   string // "?tenant=…" for another tenant, else ""
}

func realmOf(v *web.Request, tab string) realm {
	r := realm{Tenant: tenantAsked(v)}
	r.Foreign = r.Tenant != v.Actor.Tenant
	if r.Foreign {
		r.Query = "?tenant=" + url.QueryEscape(r.Tenant)
	}
	if v.Can(access.ReadUsers) {
		r.Tabs = userTabs(tab, r.Query)
	}
	if !r.Foreign {
		r.Tabs = append(r.Tabs, web.Filter{Word: "Groups", Href: web.Prefix + "/access/groups", Here: tab == "groups"})
	}
	if !r.Foreign && v.Can(access.ReadWebhooks) {
		r.Tabs = append(r.Tabs, web.Filter{Word: "Webhooks", Href: web.Prefix + "/access/webhooks", Here: tab == "webhooks"})
	}
	if v.Can(access.ReadTenants) {
		r.Tabs = append(r.Tabs, web.Filter{Word: "Tenants", Href: web.Prefix + "/access/tenants", Here: tab == "tenants"})
	}
	return r
}

func userTabs(tab, query string) []web.Filter {
	return []web.Filter{
		{Word: "Users", Href: web.Prefix + "/access" + query, Here: tab == "users"},
		{Word: "Tokens", Href: web.Prefix + "/access/tokens" + query, Here: tab == "tokens"},
	}
}

// tenantAsked is the tenant that the form or the address names, by default the
// visitor's.
func tenantAsked(v *web.Request) string {
	return cmp.Or(v.Form("tenant"), v.Query("tenant"), v.Actor.Tenant)
}

func accessPage(name, title string, data any, way ...web.Crumb) *web.Page {
	crumbs := append([]web.Crumb{{Word: "Access", Href: "/access"}}, way...)
	if title == "Access" {
		crumbs = []web.Crumb{{Word: "Access"}}
	}
	return &web.Page{Name: name, Title: title, Nav: "access", Crumbs: crumbs, Data: data}
}

// grant is the part of a form that gives a user or a token roles and projects.
type grant struct {
	Roles    []form.Choice
	Reach    string // all, some; "" while nothing is chosen
	Projects []form.Choice
	More     string // typed project IDs, where the tenant's projects can't be listed
	CanList  bool
	RolesErr string
	ReachErr string
}

var roleHints = []form.Choice{
	{Value: "ADMIN", Word: "Admin", Note: "Registers projects, admits agents, suspends, and manages users and tokens."},
	{Value: "OPERATOR", Word: "Operator", Note: "Stores models, compiles plans, starts and cancels runs."},
	{Value: "APPROVER", Word: "Approver", Note: "Decides approvals and resolves what is uncertain, but never what they asked for themselves."},
	{Value: "VIEWER", Word: "Viewer", Note: "Reads only. Every other role reads too."},
}

// grantForm lists the roles and projects and marks those already given.
func grantForm(v *web.Request, tenant string, roles []countersign.Role, reach string, projects []string) grant {
	g := grant{Reach: reach, CanList: tenant == v.Actor.Tenant}
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
func projectChoices(v *web.Request, given []string) []form.Choice {
	on := map[string]bool{}
	for _, id := range given {
		on[id] = true
	}
	var out []form.Choice
	if page, err := control.ListProjects(v.R.Context(), v.Control, v.Actor, control.List{Limit: countersign.MaxPageLimit}, web.ProjectRowOf); err == nil {
		for _, p := range page.Items {
			out = append(out, form.Choice{Value: p.ID, Word: p.Name, Chosen: on[p.ID]})
			delete(on, p.ID)
		}
	}
	for _, id := range given {
		if on[id] {
			out = append(out, form.Choice{Value: id, Word: "no such project now", Chosen: true})
		}
	}
	return out
}

// granted reads a grant from the form and reports missing fields. Access to all
// projects must be chosen: selecting none doesn't mean all.
func granted(v *web.Request) (grant, []countersign.Role, []string) {
	var roles []countersign.Role
	for _, r := range v.R.PostForm["roles"] {
		roles = append(roles, countersign.Role(r))
	}
	projects := append([]string{}, v.R.PostForm["projects"]...)
	projects = append(projects, strings.FieldsFunc(v.Form("more"), func(r rune) bool { return r <= ' ' || r == ',' })...)
	g := grantForm(v, tenantAsked(v), roles, v.Form("reach"), projects)
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
	Pager web.Pager
}

func accessList[T any](v *web.Request, tab string, read func(control.List) (countersign.Page[T], error)) (*web.Page, error) {
	l := v.List()
	found, err := read(l)
	if err != nil {
		return nil, err
	}
	d := accessData[T]{realmOf(v, tab), found.Items, v.Pager(l, len(found.Items), found.Total, found.NextOffset)}
	return accessPage(tab, "Access", d), nil
}
