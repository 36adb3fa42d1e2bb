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
		return v.control.Users(v.r.Context(), v.actor, l, v.tenantAsked())
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
	return v.userForm(userData{grant: v.grantForm(v.tenantAsked(), nil, "", nil)}), nil
}

func (v *pageRequest) userForm(d userData) *page {
	d.realm = v.realm("users")
	if d.User.Email == "" {
		return v.accessPage("user", "Add a user", d, crumb{Word: "Add a user"})
	}
	d.Self = v.isSelf(d.User.Email)
	return v.accessPage("user", d.User.Email, d, crumb{Word: d.User.Email})
}

func (v *pageRequest) isSelf(email string) bool {
	return email == v.actor.Email && v.tenantAsked() == v.actor.Tenant
}

func userPage(v *pageRequest) (*page, error) {
	u, err := v.control.User(v.r.Context(), v.actor, v.r.PathValue("email"), v.tenantAsked())
	if err != nil {
		return nil, err
	}
	return v.userForm(userData{User: control.Named(v.r.Context(), v.control, v.actor, u), grant: v.grantForm(v.tenantAsked(), u.Roles, reachOf(u.ProjectIDs), u.ProjectIDs)}), nil
}

// addUser refuses the address of an existing user, whose roles it would otherwise
// overwrite.
func addUser(v *pageRequest) (string, error) {
	g, roles, projects := v.granted()
	d := userData{grant: g, Email: v.form("email")}
	if d.Email == "" {
		d.EmailErr = "Enter an e-mail address."
	} else if u, err := v.control.User(v.r.Context(), v.actor, d.Email, v.tenantAsked()); err == nil {
		d.EmailErr = u.Email + " is a user already; open it in the list to change it."
	}
	if g.wrong() || d.EmailErr != "" {
		return "", incomplete(v.userForm(d))
	}
	return v.putUser(d, d.Email, roles, projects)
}

func changeUser(v *pageRequest) (string, error) {
	u, err := v.control.User(v.r.Context(), v.actor, v.r.PathValue("email"), v.tenantAsked())
	if err != nil {
		return "", err
	}
	g, roles, projects := v.granted()
	d := userData{grant: g, User: u}
	if g.wrong() {
		return "", incomplete(v.userForm(d))
	}
	return v.putUser(d, u.Email, roles, projects)
}

func (v *pageRequest) putUser(d userData, email string, roles []countersign.Role, projects []string) (string, error) {
	w := countersign.UserWrite{Roles: roles, ProjectIDs: projects, TenantID: v.tenantAsked()}
	if err := validRoles(roles); err != nil {
		return "", err
	}
	_, err := v.control.PutUser(v.r.Context(), v.actor, email, w)
	if err != nil {
		return "", refusedForm(err, func(p *problem) *page { d.Problem = p; return v.userForm(d) })
	}
	return "/access" + v.realm("").Query, nil
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
	u, err := v.control.User(v.r.Context(), v.actor, v.r.PathValue("email"), v.tenantAsked())
	if err != nil {
		return nil, err
	}
	d := userData{realm: v.realm("users"), User: u, Self: v.isSelf(u.Email)}
	return v.accessPage("user-remove", "Remove "+u.Email, d, crumb{Word: u.Email, Href: "/access/users/" + url.PathEscape(u.Email) + d.Query}, crumb{Word: "Remove"}), nil
}

func removeUser(v *pageRequest) (string, error) {
	if _, err := v.control.DeleteUser(v.r.Context(), v.actor, v.r.PathValue("email"), v.tenantAsked()); err != nil {
		return "", err
	}
	return "/access" + v.realm("").Query, nil
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
	w := countersign.SignInLinkWrite{ExpiresInMinutes: minutes, TenantID: v.tenantAsked()}
	made, secret, err := v.control.CreateLink(v.r.Context(), v.actor, v.r.PathValue("email"), w)
	if err != nil {
		return "", err
	}
	made.URL = v.cfg.BaseURL + Prefix + "/sign-in/link?link=" + secret
	d := userLinkData{realm: v.realm("users"), Made: made}
	out := v.accessPage("user-link", "Sign-in link", d, crumb{Word: made.Email, Href: "/access/users/" + url.PathEscape(made.Email) + d.Query}, crumb{Word: "Sign-in link"})
	out.status = http.StatusCreated
	return "", out
}
