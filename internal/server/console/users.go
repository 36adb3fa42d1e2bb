package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

func usersPage(v *pageRequest) (*page, error) {
	return accessList(v, "users", func(l control.List) (countersign.Page[countersign.User], error) {
		return v.control.Users(v.r.Context(), v.actor, l, tenantAsked(v))
	})
}

type userData struct {
	realm
	grant
	User     countersign.User // zero for a new user
	Email    string
	EmailErr string
	Self     bool
	Problem  *problem
}

func newUserPage(v *pageRequest) (*page, error) {
	return userForm(v, userData{grant: grantForm(v, tenantAsked(v), nil, "", nil)}), nil
}

func userForm(v *pageRequest, d userData) *page {
	d.realm = realmOf(v, "users")
	if d.User.Email == "" {
		return accessPage(v, "user", "Add a user", d, crumb{Word: "Add a user"})
	}
	d.Self = isSelf(v, d.User.Email)
	return accessPage(v, "user", d.User.Email, d, crumb{Word: d.User.Email})
}

func isSelf(v *pageRequest, email string) bool {
	return email == v.actor.Email && tenantAsked(v) == v.actor.Tenant
}

func userPage(v *pageRequest) (*page, error) {
	u, err := v.control.User(v.r.Context(), v.actor, v.r.PathValue("email"), tenantAsked(v))
	if err != nil {
		return nil, err
	}
	return userForm(v, userData{User: control.Named(v.r.Context(), v.control, v.actor, u), grant: grantForm(v, tenantAsked(v), u.Roles, reachOf(u.ProjectIDs), u.ProjectIDs)}), nil
}

// addUser refuses the address of an existing user, whose roles it would otherwise
// overwrite.
func addUser(v *pageRequest) (string, error) {
	g, roles, projects := granted(v)
	d := userData{grant: g, Email: v.form("email")}
	if d.Email == "" {
		d.EmailErr = "Enter an e-mail address."
	} else if u, err := v.control.User(v.r.Context(), v.actor, d.Email, tenantAsked(v)); err == nil {
		d.EmailErr = u.Email + " is a user already; open it in the list to change it."
	}
	if g.wrong() || d.EmailErr != "" {
		return "", incomplete(userForm(v, d))
	}
	return putUser(v, d, d.Email, roles, projects)
}

func changeUser(v *pageRequest) (string, error) {
	u, err := v.control.User(v.r.Context(), v.actor, v.r.PathValue("email"), tenantAsked(v))
	if err != nil {
		return "", err
	}
	g, roles, projects := granted(v)
	d := userData{grant: g, User: u}
	if g.wrong() {
		return "", incomplete(userForm(v, d))
	}
	return putUser(v, d, u.Email, roles, projects)
}

func putUser(v *pageRequest, d userData, email string, roles []countersign.Role, projects []string) (string, error) {
	w := countersign.UserWrite{Roles: roles, ProjectIDs: projects, TenantID: tenantAsked(v)}
	if err := validRoles(roles); err != nil {
		return "", err
	}
	_, err := v.control.PutUser(v.r.Context(), v.actor, email, w)
	if err != nil {
		return "", refusedForm(err, func(p *problem) *page { d.Problem = p; return userForm(v, d) })
	}
	return "/access" + realmOf(v, "").Query, nil
}

// validRoles refuses unknown roles, as the API's decoder does.
func validRoles(roles []countersign.Role) error {
	for _, r := range roles {
		if !slices.ContainsFunc(roleHints, func(c choice) bool { return c.Value == string(r) }) {
			return countersign.Errorf(countersign.CodeInvalidRequest, "roles: there is no role %s", r)
		}
	}
	return nil
}

func removeUserPage(v *pageRequest) (*page, error) {
	u, err := v.control.User(v.r.Context(), v.actor, v.r.PathValue("email"), tenantAsked(v))
	if err != nil {
		return nil, err
	}
	d := userData{realm: realmOf(v, "users"), User: u, Self: isSelf(v, u.Email)}
	return accessPage(v, "user-remove", "Remove "+u.Email, d, crumb{Word: u.Email, Href: "/access/users/" + url.PathEscape(u.Email) + d.Query}, crumb{Word: "Remove"}), nil
}

func removeUser(v *pageRequest) (string, error) {
	if _, err := v.control.DeleteUser(v.r.Context(), v.actor, v.r.PathValue("email"), tenantAsked(v)); err != nil {
		return "", err
	}
	return "/access" + realmOf(v, "").Query, nil
}

type userLinkData struct {
	realm
	Made countersign.SignInLink
}

// makeLink shows the link in the response to the POST only, as makeToken does its secret.
func makeLink(v *pageRequest) (string, error) {
	minutes, err := strconv.ParseInt(v.form("minutes"), 10, 64)
	if err != nil || minutes < 1 || minutes > countersign.MaxLinkMinutes {
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "minutes: a whole number from 1 to %d", countersign.MaxLinkMinutes)
	}
	w := countersign.SignInLinkWrite{ExpiresInMinutes: minutes, TenantID: tenantAsked(v)}
	made, secret, err := v.control.CreateLink(v.r.Context(), v.actor, v.r.PathValue("email"), w)
	if err != nil {
		return "", err
	}
	made.URL = v.cfg.BaseURL + Prefix + "/sign-in/link?link=" + secret
	d := userLinkData{realm: realmOf(v, "users"), Made: made}
	out := accessPage(v, "user-link", "Sign-in link", d, crumb{Word: made.Email, Href: "/access/users/" + url.PathEscape(made.Email) + d.Query}, crumb{Word: "Sign-in link"})
	out.status = http.StatusCreated
	return "", out
}
