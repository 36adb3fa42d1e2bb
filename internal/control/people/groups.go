package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// GroupService is the use cases of groups of approvers.
type GroupService struct{ *core.Core }

// NewGroups returns the use cases.
func NewGroups(c *core.Core) *GroupService { return &GroupService{Core: c} }

// Groups lists the tenant's groups by id.
func (s *GroupService) Groups(ctx context.Context, a core.Actor, l core.List) (page countersign.Page[countersign.Group], err error) {
	err = s.View(ctx, a, access.ReadGroups, func(tx store.Tx) error {
		page, err = records.Groups.Page(tx, a.Tenant, l.Query(nil, records.AllGroups()...))
		return err
	})
	return page, err
}

// Group reads one group.
func (s *GroupService) Group(ctx context.Context, a core.Actor, id string) (g countersign.Group, err error) {
	err = s.View(ctx, a, access.ReadGroups, func(tx store.Tx) error {
		rec, _, err := records.Groups.Get(tx, a.Tenant, records.GroupID(id))
		if err != nil {
			return core.Found(err, "group", id)
		}
		g = *rec
		return nil
	})
	return g, err
}

// PutGroup creates a group or, with the present revision, updates it. Who leaves it no
// longer counts for what is undecided; what was decided stays so.
func (s *GroupService) PutGroup(ctx context.Context, a core.Actor, id string, w countersign.GroupWrite) (g countersign.Group, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return g, err
	}
	addresses, err := checkGroup(w)
	if err != nil {
		return g, err
	}
	a = a.Asking(id, w)
	subject := "group/" + id
	err = s.UpdateInTurn(ctx, a, access.WriteGroup, subject, func(tx store.Tx) error {
		was, version, err := records.Groups.Get(tx, a.Tenant, records.GroupID(id))
		if errors.Is(err, store.ErrNotFound) {
			was, version, err = &countersign.Group{}, 0, checkGroupLimit(tx, a.Tenant)
		}
		if err != nil {
			return err
		}
		if err := core.Compare("group", id, was.Revision, w.ExpectedRevision); err != nil {
			return err
		}
		members, err := membersOf(tx, a.Tenant, addresses)
		if err != nil {
			return err
		}
		g = *was
		countersign.CopyContent(&g, w)
		g.ID, g.Members, g.UpdatedAt = id, members, s.Config.Now()
		if g.Revision++; g.Revision == 1 {
			g.CreatedAt = g.UpdatedAt
		}
		deciding, err := decidersOf(tx, a.Tenant)
		if err != nil {
			return err
		}
		if err := deciding.fillable(&g); err != nil {
			return err
		}
		if _, err := records.Groups.Put(tx, a.Tenant, records.GroupID(id), &g, version); err != nil {
			return err
		}
		if err := deciding.suffice(tx); err != nil {
			return err
		}
		c := core.Change{Before: groupState(was), After: groupState(&g), Weaker: widensGroup(was, &g), Revision: was.Revision}
		c.Weakens, c.Was, c.Now = len(c.Weaker) > 0, groupShown(was), groupShown(&g)
		return s.Audit(tx, a, access.WriteGroup, subject, c)
	})
	return g, err
}

// checkGroup checks what a group says by itself, and gives its members' addresses in the
// form in which they are compared.
func checkGroup(w countersign.GroupWrite) ([]string, error) {
	if safetext.Blank(w.Name) {
		return nil, countersign.Invalid("name", "it can't be blank")
	}
	if name, value, ok := strings.Cut(w.Claim, "="); w.Claim != "" && (!ok || name == "" || value == "") {
		return nil, countersign.Invalid("claim", "it must be the name of a claim, = and its value, such as groups=finance")
	}
	members := slices.Clone(w.Members)
	for i := range members {
		email, err := Address(fmt.Sprintf("members[%d]", i), members[i])
		if err != nil {
			return nil, err
		}
		members[i] = email
	}
	return members, nil
}

// membersOf finds the users whom a group's members name, each once.
func membersOf(tx store.Tx, tenant string, addresses []string) ([]string, error) {
	members := make([]string, len(addresses)) // new each time: a transaction's function may run again
	for i, email := range addresses {
		var err error
		if members[i], err = memberOf(tx, tenant, fmt.Sprintf("members[%d]", i), email); err != nil {
			return nil, err
		}
	}
	return members, core.Wrong(core.Repeated("members", members))
}

// memberOf finds the user whom a member names. One whose address an earlier release kept in
// another form is named by that form alone.
func memberOf(tx store.Tx, tenant, path, email string) (string, error) {
	u, err := core.UserOf(tx, tenant, email)
	if countersign.ErrorCode(err) == countersign.CodeNotFound {
		return "", countersign.Invalid(path, "%s is not a user of tenant %s; add them first", email, tenant)
	}
	if err != nil {
		return "", err
	}
	return u.Email, nil
}

func checkGroupLimit(tx store.Tx, tenant string) error {
	count, err := tx.Count(store.Meta, tenant, store.Query{Where: records.AllGroups()})
	if err != nil || count < countersign.MaxGroups {
		return err
	}
	return quota.Exceeded("tenant "+tenant, countersign.MaxGroups, "groups", "delete one")
}

// groupState describes a group in the audit log.
func groupState(g *countersign.Group) string {
	if g.Revision == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %v", core.Revision(g.Revision), g.Members)
	if g.Claim != "" {
		text += " claim " + g.Claim
	}
	return text
}

// widensGroup are the fields by which somebody may be a member who was none before. A group that is
// new is named by no rule yet.
func widensGroup(was, now *countersign.Group) (fields []string) {
	if was.Revision == 0 {
		return nil
	}
	if slices.ContainsFunc(now.Members, func(email string) bool { return !slices.Contains(was.Members, email) }) {
		fields = append(fields, "members")
	}
	if now.Claim != "" && now.Claim != was.Claim {
		fields = append(fields, "claim")
	}
	return fields
}

// groupShown is a group as a change of it is shown.
func groupShown(g *countersign.Group) countersign.Value {
	return core.Members(map[string]any{"name": g.Name, "members": g.Members, "claim": g.Claim})
}

// DeleteGroup deletes a group that no rule names.
func (s *GroupService) DeleteGroup(ctx context.Context, a core.Actor, id string) (g countersign.Group, err error) {
	subject := "group/" + id
	err = s.Update(ctx, a, access.DeleteGroup, subject, func(tx store.Tx) error {
		rec, _, err := records.Groups.Get(tx, a.Tenant, records.GroupID(id))
		if err != nil {
			return core.Found(err, "group", id)
		}
		if err := groupUnused(tx, a.Tenant, id); err != nil {
			return err
		}
		deciding, err := decidersOf(tx, a.Tenant)
		if err != nil {
			return err
		}
		if deciding.names(id) {
			return countersign.Errorf(countersign.CodeStateConflict, "members of group %s decide changes that weaken; take it out of the settings first", id)
		}
		if err := records.Groups.Delete(tx, a.Tenant, records.GroupID(id)); err != nil {
			return err
		}
		g = *rec
		return s.Audit(tx, a, access.DeleteGroup, subject, core.Change{Before: groupState(rec), After: "gone"})
	})
	return g, err
}

// groupUnused refuses the deletion of a group that a rule of a project's present revision
// names. An unfinished run goes by no other: while it lasts, its projects aren't edited.
func groupUnused(tx store.Tx, tenant, id string) error {
	heads, err := records.Projects.List(tx, tenant, store.Query{})
	if err != nil {
		return err
	}
	for _, h := range heads {
		p, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(h.ID, h.Revision))
		if err != nil {
			return err
		}
		ids, paths := gate.Groups(p)
		if i := slices.Index(ids, id); i >= 0 {
			return countersign.Errorf(countersign.CodeStateConflict, "project %s names group %s at %s; take it out of the rule first", h.ID, id, paths[i])
		}
	}
	return nil
}

// leaveGroups takes a user who leaves a tenant out of its groups: if they are added again,
// they are a member of none.
func (s *GroupService) leaveGroups(tx store.Tx, a core.Actor, tenant, email string) error {
	all, err := records.Groups.List(tx, tenant, store.Query{Where: records.AllGroups()})
	if err != nil {
		return err
	}
	for _, g := range all {
		if !slices.Contains(g.Members, email) {
			continue
		}
		rec, version, err := records.Groups.Get(tx, tenant, records.GroupID(g.ID))
		if err != nil {
			return err
		}
		next := *rec
		next.Members = slices.DeleteFunc(slices.Clone(rec.Members), func(m string) bool { return m == email })
		next.Revision++
		next.UpdatedAt = s.Config.Now()
		if _, err := records.Groups.Put(tx, tenant, records.GroupID(g.ID), &next, version); err != nil {
			return err
		}
		if err := s.AuditIn(tx, tenant, a, access.DeleteUser, "group/"+g.ID, core.Change{Before: groupState(rec), After: groupState(&next)}); err != nil {
			return err
		}
	}
	return nil
}
