package control_test

import (
	"context"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// What those are told who may not decide, make or propose a change, or can't.
func TestWhatIsSaidOfChangesThatCantBeDecided(t *testing.T) {
	h := openGuarded(t, 1)
	_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", approving(countersign.RoleAdmin))
	id := h.proposed(err)
	h.says("proposed", err, "change_proposed: this weakens what holds calls back, so it is proposed and not made: change "+id+" (Change the rights of new@acme.example, with ADMIN, APPROVER), which one of noor@acme.example, otto@acme.example must approve by "+h.change(id).ExpiresAt.UTC().Format("2006-01-02T15:04:05Z"))
	_, err = h.service.MakeChange(background, h.admin(mara), id)
	h.says("no secret", err, "state_conflict: change "+id+" answers no secret: its last approval makes it")
	_, err = h.service.WithdrawChange(background, h.admin(noor), id, countersign.ChangeWithdrawal{})
	h.says("another's", err, "role_required: only its proposer, user:mara@acme.example, makes or withdraws change "+id)
	_, err = h.decide(noor, id, countersign.ApprovalApproved)
	h.must(err)
	_, err = h.decide(otto, id, countersign.ApprovalApproved)
	h.says("twice", err, "state_conflict: change "+id+" is MADE already")

	_, err = h.service.CreateToken(background, h.admin(mara), countersign.TokenWrite{Name: "t", Roles: []countersign.Role{countersign.RoleAdmin}})
	token := h.proposed(err)
	_, err = h.service.MakeChange(background, h.admin(mara), token)
	h.says("not approved", err, "state_conflict: change "+token+" is PROPOSED; it is made once, when it is APPROVED")

	_, err = h.service.PutUser(background, h.admin(mara), "late@acme.example", approving(countersign.RoleAdmin))
	late := h.proposed(err)
	_, err = h.service.PutUser(background, h.admin(noor), "later@acme.example", approving(countersign.RoleAdmin))
	h.must(h.approve(noor, late, h.proposed(err)))
	_, err = h.service.PutUser(background, h.admin(mara), "x@acme.example", approving())
	was := h.proposed(err)
	at := h.change(was).ProposedAt
	_, err = h.service.PutUser(background, h.admin(mara), "never@acme.example", approving(countersign.RoleAdmin))
	never := h.proposed(err)
	_, err = h.decide(otto, never, countersign.ApprovalApproved)
	h.must(err)
	_, err = h.decide("never@acme.example", was, countersign.ApprovalApproved)
	h.says("no administrator then", err, "role_required: only who was an administrator when change "+was+" was proposed, on "+at.UTC().Format("2006-01-02 15:04:05Z")+", decides it")

	h.clock.Store(int64(countersign.ChangeLife))
	_, err = h.decide(noor, was, countersign.ApprovalApproved)
	h.says("too late", err, "state_conflict: change "+was+" has lapsed: nobody has decided it in time")
}

// approve has the first that it may of some changes approved; of the others nothing is said.
func (f *fixture) approve(email string, ids ...string) error {
	_, err := f.decide(email, ids[0], countersign.ApprovalApproved)
	return err
}

func (f *fixture) says(what string, err error, want string) {
	f.t.Helper()
	if err == nil || err.Error() != want {
		f.t.Fatalf("%s:\n %v\nwant\n %s", what, err, want)
	}
}

func TestWhatIsSaidOfWhatStandsInAChangesWay(t *testing.T) {
	h := openGuarded(t, 1)
	group := func(email string, w countersign.GroupWrite) error {
		_, err := h.service.PutGroup(background, h.admin(email), "finance", w)
		return err
	}
	h.must(group(mara, countersign.GroupWrite{Name: "Finance", Members: []string{}}))
	moved := h.proposed(group(mara, countersign.GroupWrite{Name: "Finance", Members: []string{noor}, ExpectedRevision: 1}))
	h.must(group(noor, countersign.GroupWrite{Name: "Money", Members: []string{}, ExpectedRevision: 1}))
	_, err := h.decide(noor, moved, countersign.ApprovalApproved)
	h.says("moved", err, "revision_conflict: what change "+moved+" is about has moved since it was proposed on revision 1, so it has lapsed; propose it again on what stands now")

	gone := h.proposed(group(mara, countersign.GroupWrite{Name: "Money", Members: []string{noor}, ExpectedRevision: 2}))
	_, err = h.service.PutUser(background, h.admin(noor), mara, countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}})
	h.must(err)
	_, err = h.decide(otto, gone, countersign.ApprovalApproved)
	h.says("no right", err, "state_conflict: user:mara@acme.example, who proposed change "+gone+", may not ask for it any more, so it has lapsed")

	_, err = h.service.PutUser(background, h.admin(noor), "away@acme.example", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleOperator}})
	h.must(err)
	hindered := h.proposed(group(noor, countersign.GroupWrite{Name: "Money", Members: []string{"away@acme.example"}, ExpectedRevision: 2}))
	_, err = h.service.DeleteUser(background, h.admin(noor), "away@acme.example", "")
	h.must(err)
	_, err = h.decide(otto, hindered, countersign.ApprovalApproved)
	h.says("hindered", err, "state_conflict: change "+hindered+" can't be made now (members[0]: away@acme.example is not a user of tenant acme; add them first); it stays PROPOSED")
	if c := h.change(hindered); c.Status != countersign.ChangeProposed || len(c.Decisions) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestWhatIsSaidOfWhoDecidesChanges(t *testing.T) {
	h := open(t)
	set := func(email string, w *countersign.Weakening, revision int64) error {
		_, err := h.service.PutSettings(background, h.admin(email), countersign.TenantSettingsWrite{DecisionAssertion: countersign.DecisionAssertionNone, Weakening: w, Reason: "r", ExpectedRevision: revision})
		return err
	}
	add := func(email string, roles ...countersign.Role) {
		_, err := h.service.PutUser(background, root(), email, countersign.UserWrite{Roles: roles})
		h.must(err)
	}
	group := func(claim string, revision int64, members ...string) error {
		_, err := h.service.PutGroup(background, root(), "owners", countersign.GroupWrite{Name: "Owners", Members: append([]string{}, members...), Claim: claim, ExpectedRevision: revision})
		return err
	}
	add(mara, countersign.RoleAdmin)
	h.says("alone", set(mara, &countersign.Weakening{Approvals: 1}, 0), "state_conflict: besides you there is nobody who may decide changes that weaken, and one must: administrators of the whole tenant; add them first")
	add(noor, countersign.RoleAdmin)
	add(otto, countersign.RoleAdmin)
	h.must(group("groups=owners", 0, noor))
	const claimed = "state_conflict: group owners may have no claim of a provider, since its members decide changes that weaken: whoever runs the provider could fill it"
	h.says("a claim", set(mara, &countersign.Weakening{Approvals: 1, Groups: []string{"owners"}}, 0), claimed)
	h.must(group("", 1, mara))
	h.says("nobody else", set(mara, &countersign.Weakening{Approvals: 1, Groups: []string{"owners"}}, 0), "state_conflict: besides you there is nobody who may decide changes that weaken, and one must: administrators of the whole tenant who are members of owners; add them first")
	h.says("no group", set(mara, &countersign.Weakening{Approvals: 1, Groups: []string{"none"}}, 0), "invalid_request: weakening.groups[0]: there is no group none")
	h.must(group("", 2, noor, otto))
	h.must(set(mara, &countersign.Weakening{Approvals: 1, Groups: []string{"owners"}}, 0))
	h.says("a claim later", group("groups=owners", 3, noor, otto), claimed)
	_, err := h.service.DeleteUser(background, h.admin(mara), noor, "")
	h.says("too few", err, "state_conflict: it would leave one who may decide changes that weaken, and one must approve one besides whoever proposes it; add another first")
	_, err = h.service.DeleteGroup(background, root(), "owners")
	h.says("the group", err, "state_conflict: members of group owners decide changes that weaken; take it out of the settings first")
	_, err = h.service.PutUser(background, h.admin(mara), "new@acme.example", approving())
	id := h.proposed(err)
	_, err = h.service.PutGroup(background, h.admin(mara), "owners", countersign.GroupWrite{Name: "Owners", Members: []string{noor, otto, mara}, ExpectedRevision: 3})
	more := h.proposed(err)
	_, err = h.decide(otto, more, countersign.ApprovalApproved)
	h.must(err)
	_, err = h.service.PutSettings(background, h.admin(noor), countersign.TenantSettingsWrite{DecisionAssertion: countersign.DecisionAssertionNone, Weakening: &countersign.Weakening{Approvals: 2, Groups: []string{"owners"}}, Reason: "r", ExpectedRevision: 1})
	h.must(err)
	add("pia@acme.example", countersign.RoleViewer)
	_, err = h.service.DecideChange(context.Background(), h.admin("pia@acme.example"), id, countersign.ChangeDecision{Decision: countersign.ApprovalApproved, Reason: "r"})
	h.says("a viewer", err, "role_required: this needs the role ADMIN; you have VIEWER")
	_, err = h.decide(mara, id, countersign.ApprovalApproved)
	h.says("herself", err, "self_approval: you proposed change "+id+", or who did and you go back to one maker, so somebody else must decide")
}

func TestTwoApprovalsAreOfTwo(t *testing.T) {
	h := openGuarded(t, 2)
	_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", approving())
	id := h.proposed(err)
	h.must(h.approve(noor, id))
	h.says("twice", h.approve(noor, id), "state_conflict: you have decided change "+id+" already; 2 different administrators must approve")
	_, err = h.service.PutTenant(background, root(), "acme", countersign.TenantWrite{Name: "Acme"})
	h.must(err)
	beta := control.Actor{Principal: access.Principal{ID: "user:root@acme", Email: "root@acme", Person: "root@acme", Tenant: "beta", Realm: true, Roles: []countersign.Role{countersign.RoleAdmin}}}
	_, err = h.service.PutUser(background, beta, "far@acme.example", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleAdmin}, TenantID: "acme"})
	far := h.proposed(err)
	_, err = h.service.DecideChange(background, beta, far, countersign.ChangeDecision{Decision: countersign.ApprovalApproved, Reason: "r"})
	h.says("of another tenant", err, "role_required: administrators of tenant acme decide change "+far)
	if c := h.change(far); c.ProposedBy != "user:root@acme" {
		t.Errorf("%+v", c)
	}
	withdrawn, err := h.service.WithdrawChange(background, beta, far, countersign.ChangeWithdrawal{})
	if err != nil || withdrawn.Status != countersign.ChangeWithdrawn {
		t.Errorf("%+v, %v", withdrawn, err)
	}
}
