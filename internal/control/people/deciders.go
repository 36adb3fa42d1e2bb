package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Where several decide changes that weaken, enough of them must stay: nobody could decide any more,
// and the only way out would be on the stopped store.

// deciding is who decides changes that weaken before a change of users or groups; a zero one where
// the tenant makes such changes at once.
type deciding struct {
	tenant string
	by     *countersign.Weakening
	before []string
}

func decidersOf(tx store.Tx, tenant string) (d deciding, err error) {
	settings, err := records.SettingsOf(tx, tenant)
	if err != nil || settings.Weakening == nil {
		return d, err
	}
	d = deciding{tenant: tenant, by: settings.Weakening}
	d.before, err = records.ChangeDeciders(tx, tenant, d.by)
	return d, err
}

// suffice refuses what has left fewer than whoever proposes and those who must approve.
func (d deciding) suffice(tx store.Tx) error {
	if d.by == nil {
		return nil
	}
	now, err := records.ChangeDeciders(tx, d.tenant, d.by)
	if err != nil || len(now) >= len(d.before) {
		return err
	}
	if len(now) > int(d.by.Approvals) {
		return eachDecides(tx, d.tenant, d.by.Groups, now)
	}
	return countersign.Errorf(countersign.CodeStateConflict, "it would leave %s who may decide changes that weaken, and %s must approve one besides whoever proposes it; add another first", people(len(now)), people(int(d.by.Approvals)))
}

func (d deciding) names(group string) bool { return d.by != nil && slices.Contains(d.by.Groups, group) }

// fillable refuses a claim for a group whose members decide changes that weaken.
func (d deciding) fillable(g *countersign.Group) error {
	if g.Claim != "" && d.names(g.ID) {
		return errFilled(g.ID)
	}
	return nil
}

func errFilled(group string) error {
	return countersign.Errorf(countersign.CodeStateConflict, "group %s may have no claim of a provider, since its members decide changes that weaken: whoever runs the provider could fill it", group)
}

// checkWeakening refuses a setting by which a change of the proposer's could not be decided.
func checkWeakening(tx store.Tx, a core.Actor, w *countersign.Weakening) error {
	if w == nil {
		return nil
	}
	if err := core.Wrong(core.Repeated("weakening.groups", w.Groups)); err != nil {
		return err
	}
	for i, id := range w.Groups {
		g, _, err := records.Groups.Get(tx, a.Tenant, records.GroupID(id))
		if err := core.Found(err, "group", id); countersign.ErrorCode(err) == countersign.CodeNotFound {
			return countersign.Invalid(fmt.Sprintf("weakening.groups[%d]", i), "there is no group %s", id)
		}
		if err != nil {
			return err
		}
		if g.Claim != "" {
			return errFilled(id)
		}
	}
	all, err := records.ChangeDeciders(tx, a.Tenant, w)
	if err != nil {
		return err
	}
	own := a.Requester().Chain()
	others := slices.DeleteFunc(all, func(email string) bool { return slices.Contains(own, "user:"+email) })
	if len(others) < int(w.Approvals) {
		return countersign.Errorf(countersign.CodeStateConflict, "besides you there %s who may decide changes that weaken, and %s must: administrators of the whole tenant%s; add them first", isOrAre(len(others)), people(int(w.Approvals)), inGroups(w.Groups))
	}
	return eachDecides(tx, a.Tenant, w.Groups, others)
}

// eachDecides refuses groups of which none has somebody among those who may decide.
func eachDecides(tx store.Tx, tenant string, groups, deciders []string) error {
	for _, id := range groups {
		g, _, err := records.Groups.Get(tx, tenant, records.GroupID(id))
		if err != nil {
			return core.Found(err, "group", id)
		}
		if !slices.ContainsFunc(g.Members, func(email string) bool { return slices.Contains(deciders, email) }) {
			return countersign.Errorf(countersign.CodeStateConflict, "no member of group %s could decide changes that weaken: it needs another administrator of the whole tenant than whoever proposes", id)
		}
	}
	return nil
}

func inGroups(groups []string) string {
	if len(groups) == 0 {
		return ""
	}
	return " who are members of " + strings.Join(groups, " or ")
}

func people(n int) string {
	switch n {
	case 0:
		return "nobody"
	case 1:
		return "one"
	}
	return fmt.Sprint(n)
}

func isOrAre(n int) string {
	if n < 2 {
		return "is " + people(n)
	}
	return "are " + people(n)
}

// eases are the fields of a setting by which fewer, or others, decide.
func eases(was, now *countersign.Weakening) []string {
	switch {
	case was == nil:
		return nil
	case now == nil:
		return []string{"weakening"}
	}
	var fields []string
	if now.Approvals < was.Approvals {
		fields = append(fields, "weakening.approvals")
	}
	if len(was.Groups) > 0 && !slices.Equal(was.Groups, now.Groups) {
		fields = append(fields, "weakening.groups")
	}
	return fields
}
