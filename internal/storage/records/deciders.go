package records

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// ChangeDeciders are the users who may decide a change that weakens, by e-mail: administrators of
// the whole tenant, and members of one of the groups where there are any. A claim makes nobody one:
// whoever runs the provider could fill it.
func ChangeDeciders(tx store.Tx, tenant string, w *countersign.Weakening) (emails []string, err error) {
	users, err := Users.List(tx, tenant, store.Query{})
	if err != nil {
		return nil, err
	}
	for i := range users {
		if users[i].ProjectIDs != nil {
			continue
		}
		in, err := GroupsOfDecider(tx, tenant, w.Groups, &users[i])
		if err != nil {
			return nil, err
		}
		if in != nil {
			emails = append(emails, users[i].Email)
		}
	}
	return emails, nil
}

// Administrators are a tenant's administrators at this moment, by e-mail.
func Administrators(tx store.Tx, tenant string) (emails []string, err error) {
	users, err := Users.List(tx, tenant, store.Query{})
	for i := range users {
		if users[i].administers() {
			emails = append(emails, users[i].Email)
		}
	}
	return emails, err
}

// administers reports a user who has the role, and is not only invited.
func (u *User) administers() bool {
	return !u.Invited && slices.Contains(u.Roles, countersign.RoleAdmin)
}

// GroupsOfDecider are the groups for which a user decides a change that weakens; nil if they may decide none,
// and not nil where no group is named.
func GroupsOfDecider(tx store.Tx, tenant string, named []string, u *User) ([]string, error) {
	if !u.administers() {
		return nil, nil
	}
	if len(named) == 0 {
		return []string{}, nil
	}
	var in []string
	for _, id := range named {
		g, _, err := Groups.Get(tx, tenant, GroupID(id))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(g.Members, u.Email) {
			in = append(in, id)
		}
	}
	return in, nil
}
