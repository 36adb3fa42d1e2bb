package access

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

func usersPage(v *web.Request) (*web.Page, error) {
	return accessList(v, "users", func(l control.List) (countersign.Page[countersign.User], error) {
		return v.Control.Users(v.R.Context(), v.Actor, l, tenantAsked(v))
	})
}

type userData struct {
	realm
	grant
	User     countersign.User // zero for a new user
	Email    string
	EmailErr string
	Self     bool
	Problem  *web.Problem
}

func newUserPage(v *web.Request) (*web.Page, error) {
	return userForm(v, userData{grant: grantForm(v, tenantAsked(v), nil, "", nil)}), nil
}

func userForm(v *web.Request, d userData) *web.Page {
	d.realm = realmOf(v, "users")
	if d.User.Email == "" {
		return accessPage("user", "Add a user", d, web.Crumb{Word: "Add a user"})
	}
	d.Self = isSelf(v, d.User.Email)
	return accessPage("user", d.User.Email, d, web.Crumb{Word: d.User.Email})
}

func isSelf(v *web.Request, email string) bool {
	return email == v.Actor.Email && tenantAsked(v) == v.Actor.Tenant
}

func userPage(v *web.Request) (*web.Page, error) {
	u, err := v.Control.User(v.R.Context(), v.Actor, v.R.PathValue("email"), tenantAsked(v))
	if err != nil {
		return nil, err
	}
	return userForm(v, userData{User: control.Named(v.R.Context(), v.Control, v.Actor, u), grant: grantForm(v, tenantAsked(v), u.Roles, reachOf(u.ProjectIDs), u.ProjectIDs)}), nil
}

// addUser refuses the address of an existing user, whose roles it would otherwise
// overwrite.
func addUser(v *web.Request) (string, error) {
	g, roles, projects := granted(v)
	d := userData{grant: g, Email: v.Form("email")}
	if d.Email == "" {
		d.EmailErr = "Enter an e-mail address."
	} else if u, err := v.Control.User(v.R.Context(), v.Actor, d.Email, tenantAsked(v)); err == nil {
		d.EmailErr = u.Email + " is a user already; open it in the list to change it."
	}
	if g.wrong() || d.EmailErr != "" {
		return "", web.Incomplete(userForm(v, d))
	}
	return putUser(v, d, d.Email, roles, projects)
}

func changeUser(v *web.Request) (string, error) {
	u, err := v.Control.User(v.R.Context(), v.Actor, v.R.PathValue("email"), tenantAsked(v))
	if err != nil {
		return "", err
	}
	g, roles, projects := granted(v)
	d := userData{grant: g, User: u}
	if g.wrong() {
		return "", web.Incomplete(userForm(v, d))
	}
	return putUser(v, d, u.Email, roles, projects)
}

func putUser(v *web.Request, d userData, email string, roles []countersign.Role, projects []string) (string, error) {
	w := countersign.UserWrite{Roles: roles, ProjectIDs: projects, TenantID: tenantAsked(v)}
	if err := validRoles(roles); err != nil {
		return "", err
	}
	_, err := v.Control.PutUser(v.R.Context(), v.Actor, email, w)
	if err != nil {
		return "", web.RefusedForm(err, func(p *web.Problem) *web.Page { d.Problem = p; return userForm(v, d) })
	}
	return "/access" + realmOf(v, "").Query, nil
}

// validRoles refuses unknown roles, as the API's decoder does.
func validRoles(roles []countersign.Role) error {
	for _, r := range roles {
		if !slices.ContainsFunc(roleHints, func(c form.Choice) bool { return c.Value == string(r) }) {
			return countersign.Errorf(countersign.CodeInvalidRequest, "roles: there is no role %s", r)
		}
	}
	return nil
}

func removeUserPage(v *web.Request) (*web.Page, error) {
	u, err := v.Control.User(v.R.Context(), v.Actor, v.R.PathValue("email"), tenantAsked(v))
	if err != nil {
		return nil, err
	}
	d := userData{realm: realmOf(v, "users"), User: u, Self: isSelf(v, u.Email)}
	return accessPage("user-remove", "Remove "+u.Email, d, web.Crumb{Word: u.Email, Href: "/access/users/" + url.PathEscape(u.Email) + d.Query}, web.Crumb{Word: "Remove"}), nil
}

func removeUser(v *web.Request) (string, error) {
	if _, err := v.Control.DeleteUser(v.R.Context(), v.Actor, v.R.PathValue("email"), tenantAsked(v)); err != nil {
		return "", err
	}
	return "/access" + realmOf(v, "").Query, nil
}

type userLinkData struct {
	realm
	Made countersign.SignInLink
}

// makeLink shows the link in the response to the POST only, as makeToken does its secret.
func makeLink(v *web.Request) (string, error) {
	minutes, err := strconv.ParseInt(v.Form("minutes"), 10, 64)
	if err != nil || minutes < 1 || minutes > countersign.MaxLinkMinutes {
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "minutes: a whole number from 1 to %d", countersign.MaxLinkMinutes)
	}
	w := countersign.SignInLinkWrite{ExpiresInMinutes: minutes, TenantID: tenantAsked(v)}
	made, secret, err := v.Control.CreateLink(v.R.Context(), v.Actor, v.R.PathValue("email"), w)
	if err != nil {
		return "", err
	}
	made.URL = linkAddress(v, secret)
	d := userLinkData{realm: realmOf(v, "users"), Made: made}
	out := accessPage("user-link", "Sign-in link", d, web.Crumb{Word: made.Email, Href: "/access/users/" + url.PathEscape(made.Email) + d.Query}, web.Crumb{Word: "Sign-in link"})
	out.Status = http.StatusCreated
	return "", out
}
