package control_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

var list = control.List{Limit: 100}

const (
	mara = "mara@acme.example"
	noor = "noor@acme.example"
	otto = "otto@acme.example"
)

// weakened by several: acme has the administrators mara, noor and otto, and one of them, besides who
// proposes, approves what weakens.
func openGuarded(t fataler, approvals int64, groups ...string) *fixture {
	h := open(t)
	h.guard(approvals, groups...)
	return h
}

func (f *fixture) guard(approvals int64, groups ...string) {
	f.t.Helper()
	for _, email := range []string{mara, noor, otto} {
		_, err := f.service.PutUser(background, root(), email, countersign.UserWrite{Roles: []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator}})
		f.must(err)
	}
	_, err := f.service.PutSettings(background, f.admin(mara), countersign.TenantSettingsWrite{
		DecisionAssertion: countersign.DecisionAssertionNone, Weakening: &countersign.Weakening{Approvals: approvals, Groups: groups}, Reason: "two pairs of eyes",
	})
	f.must(err)
}

// admin is a user who signed in.
func (f *fixture) admin(email string) control.Actor {
	f.t.Helper()
	u, err := f.service.User(background, root(), email, "acme")
	f.must(err)
	p := access.Principal{ID: "user:" + email, Name: email, Email: email, Person: email, Tenant: "acme", Roles: u.Roles, Projects: u.ProjectIDs}
	return control.Actor{Principal: p, RequestID: "req-1"}
}

// proposed is the id of the change that a refusal names.
func (f *fixture) proposed(err error) string {
	f.t.Helper()
	var p *control.ProposedError
	if !errors.As(err, &p) || countersign.ErrorCode(err) != countersign.CodeChangeProposed {
		f.t.Fatalf("%v, and it should be proposed", err)
	}
	return p.ChangeID
}

func (f *fixture) decide(email, id string, d countersign.ApprovalStatus) (countersign.ProposedChange, error) {
	return f.service.DecideChange(background, f.admin(email), id, countersign.ChangeDecision{Decision: d, Reason: "looked at it"})
}

func (f *fixture) change(id string) countersign.ProposedChange {
	f.t.Helper()
	c, err := f.service.Change(background, root(), id)
	f.must(err)
	return c
}

func approving(roles ...countersign.Role) countersign.UserWrite {
	return countersign.UserWrite{Roles: append(roles, countersign.RoleApprover)}
}

func TestWhatWeakensIsProposedAndMadeByTheLastApproval(t *testing.T) {
	h := openGuarded(t, 1)
	ask := func() error {
		_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", approving())
		return err
	}
	err := ask()
	id := h.proposed(err)
	if want := "change " + id; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "one of "+noor+", "+otto+" must approve") {
		t.Errorf("%v", err)
	}
	if again := h.proposed(ask()); again != id {
		t.Errorf("the same request is proposed anew: %s", again)
	}
	if _, err := h.service.User(background, root(), "new@acme.example", ""); countersign.ErrorCode(err) != countersign.CodeNotFound {
		t.Errorf("it is made before anybody approved: %v", err)
	}
	c := h.change(id)
	if c.Operation != "users.write" || c.Subject != "user/new@acme.example" || c.Status != countersign.ChangeProposed || c.ProposedBy != "user:"+mara || c.ApprovalsNeeded != 1 {
		t.Errorf("%+v", c)
	}
	if len(c.Diff) != 1 || c.Diff[0].Path != "roles" || !c.Diff[0].Weakens || c.Diff[0].Text != `the roles: ["APPROVER"]. Today there is none.` {
		t.Errorf("%+v", c.Diff)
	}
	if _, err := h.decide(mara, id, countersign.ApprovalApproved); countersign.ErrorCode(err) != countersign.CodeSelfApproval {
		t.Errorf("who proposed it approves it: %v", err)
	}
	c, err = h.decide(noor, id, countersign.ApprovalApproved)
	h.must(err)
	u, err := h.service.User(background, root(), "new@acme.example", "")
	h.must(err)
	if c.Status != countersign.ChangeMade || !slices.Contains(u.Roles, countersign.RoleApprover) || u.CreatedBy != "user:"+mara {
		t.Errorf("%+v, %+v", c, u)
	}
	if _, err := h.decide(otto, id, countersign.ApprovalApproved); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("it is decided twice: %v", err)
	}
	var actions []string
	for _, r := range h.log("acme", 0) {
		if strings.HasPrefix(r.Subject, "change/") || r.Subject == "user/new@acme.example" {
			actions = append(actions, r.Actor+" "+r.Action+" "+r.Outcome+" "+r.After)
		}
	}
	want := []string{
		"user:" + mara + " changes.propose done PROPOSED users.write of user/new@acme.example",
		"user:" + mara + " changes.decide refused: self_approval ",
		"user:" + mara + " users.write done [APPROVER]",
		"user:" + noor + " changes.decide done MADE",
		"user:" + otto + " changes.decide refused: state_conflict ",
	}
	if !slices.Equal(actions, want) {
		t.Errorf("%q", actions)
	}
}

func TestAChangeLapsesWhereWhatItIsAboutHasMoved(t *testing.T) {
	h := openGuarded(t, 1)
	p, err := h.service.Project(background, root(), "acme-one")
	h.must(err)
	put := func(email, name string, revision int64, approval string) error {
		w := countersign.ProjectWrite{Name: name, Adapter: p.Adapter, Capabilities: slices.Clone(p.Capabilities), ExpectedRevision: revision}
		w.Capabilities[2].Approval = approval
		_, err := h.service.PutProject(background, h.admin(email), "acme-one", w)
		return err
	}
	if err := put(mara, "x", 7, countersign.ApprovalNone); countersign.ErrorCode(err) != countersign.CodeRevisionConflict {
		t.Errorf("a stale revision: %v", err)
	}
	first := h.proposed(put(mara, "x", 1, countersign.ApprovalNone))
	if c := h.change(first); c.Revision != 1 || c.Diff[0].Path != "capabilities.ping.approval" || !c.Diff[0].Weakens || c.Diff[1].Weakens {
		t.Errorf("%+v", c)
	}
	h.must(put(noor, "y", 1, ""))
	if _, err := h.decide(noor, first, countersign.ApprovalApproved); countersign.ErrorCode(err) != countersign.CodeRevisionConflict {
		t.Errorf("it has moved: %v", err)
	}
	if c := h.change(first); c.Status != countersign.ChangeLapsed {
		t.Errorf("%+v", c)
	}
	second := h.proposed(put(mara, "y", 2, countersign.ApprovalNone))
	if _, err := h.decide(otto, second, countersign.ApprovalApproved); err != nil {
		t.Error(err)
	}
	now, err := h.service.Project(background, root(), "acme-one")
	h.must(err)
	if now.Revision != 3 || now.Capability("ping").Approval != countersign.ApprovalNone {
		t.Errorf("%+v", now)
	}
}

// A token and a link are shown once, to whoever proposed them.
func TestASecretIsMadeByItsProposerOnce(t *testing.T) {
	h := openGuarded(t, 1)
	_, err := h.service.CreateToken(background, h.admin(mara), countersign.TokenWrite{Name: "deploy", Roles: []countersign.Role{countersign.RoleAdmin}})
	id := h.proposed(err)
	if _, err := h.service.MakeChange(background, h.admin(mara), id); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("it is made before it is approved: %v", err)
	}
	c, err := h.decide(noor, id, countersign.ApprovalApproved)
	h.must(err)
	if c.Status != countersign.ChangeApproved || c.Title != "Make a token “deploy”, with ADMIN" {
		t.Errorf("%+v", c)
	}
	if _, err := h.service.MakeChange(background, h.admin(noor), id); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("another makes it: %v", err)
	}
	made, err := h.service.MakeChange(background, h.admin(mara), id)
	h.must(err)
	token, is := made.(countersign.NewToken)
	if p, err := h.service.Authenticate(background, token.Secret); !is || err != nil || p.Name != "deploy" {
		t.Errorf("%T, %v, %+v", made, err, p)
	}
	if _, err := h.service.MakeChange(background, h.admin(mara), id); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("it is made twice: %v", err)
	}
}

func TestOnlyWhoWasAnAdministratorThenDecides(t *testing.T) {
	h := openGuarded(t, 1)
	_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", approving(countersign.RoleAdmin))
	first := h.proposed(err)
	_, err = h.service.PutDelegation(background, h.admin(mara), mara, countersign.DelegationWrite{Delegate: "new@acme.example", Until: time.Now().Add(time.Hour), Reason: "away"})
	if countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		t.Fatalf("%v", err)
	}
	_, err = h.service.CreateToken(background, h.admin(mara), countersign.TokenWrite{Name: "deploy", Roles: []countersign.Role{countersign.RoleAdmin}})
	second := h.proposed(err)
	_, err = h.decide(noor, first, countersign.ApprovalApproved)
	h.must(err)
	if _, err := h.decide("new@acme.example", second, countersign.ApprovalApproved); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("who became one since decides: %v", err)
	}
}

func TestEnoughWhoDecideAreKept(t *testing.T) {
	h := openGuarded(t, 2)
	viewer := countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}}
	if _, err := h.service.PutUser(background, h.admin(mara), noor, viewer); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("too few are left: %v", err)
	}
	if _, err := h.service.DeleteUser(background, h.admin(mara), noor, ""); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("too few are left: %v", err)
	}
	_, err := h.service.PutSettings(background, h.admin(mara), countersign.TenantSettingsWrite{DecisionAssertion: countersign.DecisionAssertionNone, Weakening: &countersign.Weakening{Approvals: 3}, Reason: "r", ExpectedRevision: 1})
	if countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("there aren't three others: %v", err)
	}
	_, err = h.service.PutSettings(background, h.admin(mara), countersign.TenantSettingsWrite{DecisionAssertion: countersign.DecisionAssertionNone, Reason: "r", ExpectedRevision: 1})
	id := h.proposed(err)
	c, err := h.decide(noor, id, countersign.ApprovalApproved)
	h.must(err)
	if c.Status != countersign.ChangeProposed || len(c.Decisions) != 1 {
		t.Errorf("%+v", c)
	}
	if _, err := h.decide(noor, id, countersign.ApprovalApproved); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("one decides twice: %v", err)
	}
	c, err = h.decide(otto, id, countersign.ApprovalApproved)
	h.must(err)
	settings, err := h.service.Settings(background, root())
	h.must(err)
	if c.Status != countersign.ChangeMade || settings.Weakening != nil {
		t.Errorf("%+v, %+v", c, settings)
	}
}

func TestAProposerWithoutTheRightLosesTheChange(t *testing.T) {
	h := openGuarded(t, 1)
	_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", approving())
	id := h.proposed(err)
	_, err = h.service.PutUser(background, h.admin(noor), mara, countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}})
	h.must(err)
	if _, err := h.decide(otto, id, countersign.ApprovalApproved); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("%v", err)
	}
	if c := h.change(id); c.Status != countersign.ChangeLapsed {
		t.Errorf("%+v", c)
	}
}

func TestOpenChangesAreBounded(t *testing.T) {
	h := openGuarded(t, 1)
	ask := func(email string, n int) error {
		_, err := h.service.PutUser(background, h.admin(email), "n"+strings.Repeat("x", n)+"@acme.example", approving())
		return err
	}
	ids := []string{}
	for n := range countersign.MaxOpenChanges {
		ids = append(ids, h.proposed(ask(mara, n)))
	}
	if err := ask(mara, 30); countersign.ErrorCode(err) != countersign.CodeQuotaExceeded {
		t.Errorf("%v", err)
	}
	h.proposed(ask(noor, 30))
	_, err := h.service.WithdrawChange(background, h.admin(mara), ids[0], countersign.ChangeWithdrawal{Reason: "not needed"})
	h.must(err)
	if _, err := h.service.WithdrawChange(background, h.admin(noor), ids[1], countersign.ChangeWithdrawal{}); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("another withdraws it: %v", err)
	}
	h.proposed(ask(mara, 31))
	h.clock.Store(int64(countersign.ChangeLife))
	if c := h.change(ids[1]); c.Status != countersign.ChangeLapsed {
		t.Errorf("%+v", c)
	}
	if open, err := h.service.OpenChanges(context.Background(), root()); err != nil || len(open) != 0 {
		t.Errorf("%v, %v", open, err)
	}
	h.proposed(ask(mara, 32))
	page, err := h.service.Changes(background, root(), list)
	h.must(err)
	if page.Total != countersign.MaxOpenChanges+3 || page.Items[0].Status != countersign.ChangeProposed || page.Items[1].Status != countersign.ChangeLapsed {
		t.Errorf("%+v", page)
	}
}

// What has no revision of its own, as a user's rights, is compared by what stood.
func TestRightsThatMovedLetAChangeLapse(t *testing.T) {
	h := openGuarded(t, 1)
	viewer := countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}}
	_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", viewer)
	h.must(err)
	_, err = h.service.PutUser(background, h.admin(mara), "new@acme.example", approving())
	id := h.proposed(err)
	_, err = h.service.PutUser(background, h.admin(otto), "new@acme.example", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleOperator}})
	h.must(err)
	if _, err := h.decide(noor, id, countersign.ApprovalApproved); countersign.ErrorCode(err) != countersign.CodeRevisionConflict {
		t.Errorf("%v", err)
	}
	if c := h.change(id); c.Status != countersign.ChangeLapsed {
		t.Errorf("%+v", c)
	}
}
