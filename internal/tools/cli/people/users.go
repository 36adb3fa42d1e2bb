// Package people has the commands on users, groups, delegations, tenants, their settings and tokens.
package people

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Users are the commands on a tenant's users (contract 3).
type Users struct {
	List   UsersList   `cmd:"" help:"List the users (ADMIN)." example:"users list"`
	Put    UsersPut    `cmd:"" help:"Make somebody a user, or say what they have from now on (ADMIN)." example:"users put mara@marlow.example --role APPROVER --project default-shop"`
	Link   UsersLink   `cmd:"" help:"Make a link that signs a user in once, for a phone or without mail; it is shown once (realm administrator)." example:"users link mara@marlow.example"`
	Delete UsersDelete `cmd:"" help:"End somebody's membership (ADMIN)." example:"users delete mara@marlow.example"`
}

// UsersList is the command `users list`.
type UsersList struct {
	OfTenant
	service.Listing
}

var userTable = service.Columns[countersign.User]{
	Heading: []string{"email", "tenant", "roles", "projects", "made by", "created", "updated"},
	Row: func(u countersign.User) []string {
		return []string{u.Email, u.TenantID, words.Joined(u.Roles), words.OrAll(u.ProjectIDs), words.Called(u.CreatedBy, u.CreatedByName), words.Moment(u.CreatedAt), words.Moment(u.UpdatedAt)}
	},
}

// Run lists the users.
func (l *UsersList) Run(t *terminal.Terminal) error {
	return service.ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[countersign.User], error) {
		return c.Users(t.Context, client.TenantFilter{Paging: p, TenantID: l.Tenant})
	}, userTable)
}

// UsersPut is the command `users put`.
type UsersPut struct {
	Email   string   `arg:"" help:"The user's e-mail address."`
	Role    []string `required:"" enum:"ADMIN,OPERATOR,APPROVER,VIEWER" help:"What they may do: ADMIN, OPERATOR, APPROVER or VIEWER. Repeat it for several."`
	Project []string `help:"Only this project. Repeat it for several; else all." placeholder:"ID"`
	OfTenant
	service.Asking
}

// Run saves the user. Roles and projects that are not given are removed.
func (p *UsersPut) Run(t *terminal.Terminal) error {
	w := countersign.UserWrite{Roles: roles(p.Role), ProjectIDs: p.Project, TenantID: p.Tenant}
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.User, error) { return c.SaveUser(t.Context, p.Email, w) },
		func(out io.Writer, u *countersign.User) {
			fmt.Fprintf(out, "%s is %s in %s, projects: %s\n", words.Plain(u.Email), words.Joined(u.Roles), u.TenantID, words.OrAll(u.ProjectIDs))
		})
}

// UsersDelete is the command `users delete`.
type UsersDelete struct {
	Email string `arg:"" help:"The user's e-mail address."`
	OfTenant
	service.Asking
}

// Run ends the membership.
func (d *UsersDelete) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, d.Asking, func(c *client.Client) (*countersign.User, error) { return c.DeleteUser(t.Context, d.Email, d.Tenant) },
		func(out io.Writer, u *countersign.User) {
			fmt.Fprintf(out, "%s is no user of %s any more\n", words.Plain(u.Email), u.TenantID)
		})
}

// UsersLink is the command `users link`.
type UsersLink struct {
	Email   string `arg:"" help:"The user's e-mail address."`
	Minutes int64  `help:"How long it is good, 1 to 1440; else 15." placeholder:"N"`
	OfTenant
	service.Asking
}

// Run makes the link.
func (l *UsersLink) Run(t *terminal.Terminal) error {
	w := countersign.SignInLinkWrite{ExpiresInMinutes: l.Minutes, TenantID: l.Tenant}
	return service.ShowRecord(t, l.Asking, func(c *client.Client) (*countersign.SignInLink, error) {
		return c.CreateSignInLink(t.Context, l.Email, w)
	},
		func(out io.Writer, x *countersign.SignInLink) {
			terminal.Facts(out, [2]string{"link", x.URL}, [2]string{"user", x.Email}, [2]string{"tenant", x.TenantID}, [2]string{"expires", words.Moment(x.ExpiresAt)})
			fmt.Fprintln(t.Errs, "It is shown only once. Whoever opens it and confirms is signed in as this user; an earlier link is good no more.")
		})
}
