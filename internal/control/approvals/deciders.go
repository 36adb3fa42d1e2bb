package approvals

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// barredDecision returns why the actor may not decide an approval; nil if it may.
func (s *ApprovalService) barredDecision(tx store.Tx, a core.Actor, r *records.Approval) error {
	if err := access.Allow(a.Principal, access.DecideApproval); err != nil {
		return err
	}
	if err := s.Repo.CountDecisions(tx, a.Tenant, r); err != nil {
		return err
	}
	_, err := s.mayDecide(tx, a, r)
	return err
}

// maxDeciders is how many users a page names who may still decide.
const maxDeciders = 50

// Deciders says who may still decide an approval that is pending: users by e-mail, and for
// each of its groups whether somebody whose approval counts has decided for it.
type Deciders struct {
	Approved int      // approvals that count
	Open     []string // groups that nobody has decided for
	Users    []Able   // at most maxDeciders
	More     bool     // there are others
}

// Able is a user who may decide, and in whose place they would.
type Able struct {
	Email string
	For   []string // users who are away
}

// StillDeciding returns who may still decide an approval, as far as users go: tokens that
// stand for nobody aren't named. Who may read the approval may know it.
func (s *ApprovalService) StillDeciding(ctx context.Context, a core.Actor, id string) (d Deciders, err error) {
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		d = Deciders{}
		rec, err := reach.Approval(tx, a, id)
		if err != nil || rec.Status != countersign.ApprovalPending {
			return err
		}
		if err := s.Repo.CountDecisions(tx, a.Tenant, rec); err != nil {
			return err
		}
		d.Approved, d.Open = runrepo.Waits(&rec.Approval)
		users, err := records.Users.List(tx, a.Tenant, store.Query{})
		if err != nil {
			return err
		}
		for i := range users {
			if users[i].Invited {
				continue
			}
			if len(d.Users) == maxDeciders {
				d.More = true
				return nil
			}
			user := core.Actor{Principal: core.PrincipalOfUser(&users[i])}
			if access.InScope(user.Principal, rec.ProjectID) != nil || access.Allow(user.Principal, access.DecideApproval) != nil {
				continue
			}
			if in, err := s.mayDecide(tx, user, rec); err == nil {
				d.Users = append(d.Users, Able{users[i].Email, in.OnBehalfOf})
			}
		}
		return nil
	})
	return d, err
}

// asItsUser returns nil unless a token names a user who may not decide an approval: its decision
// would not count. Where people decide, MayJudge says so, and with more.
func (s *ApprovalService) asItsUser(tx store.Tx, a core.Actor, r *records.Approval) error {
	if !strings.HasPrefix(a.ID, "token:") || a.Email == "" || s.Config.Eyes == access.EyesOfPeople {
		return nil
	}
	u, err := core.UserOf(tx, a.Tenant, a.Email)
	switch {
	case a.Person == "": // removed, or added anew and known by nothing to be the same
		return countersign.Errorf(countersign.CodeRoleRequired, "this token names %s, who was removed since; a user who was added again confirms it in the console's settings, or use one that names nobody", a.Email)
	case countersign.ErrorCode(err) == countersign.CodeNotFound:
		return nil // an earlier release let tokens name who never was a user
	case err != nil:
		return err
	}
	user := core.PrincipalOfUser(u)
	if cmp.Or(access.Allow(user, access.DecideApproval), access.InScope(user, r.ProjectID)) != nil {
		return countersign.Errorf(countersign.CodeRoleRequired, "this token names %s, who may not decide this themselves; their roles and projects bound what it decides", a.Email)
	}
	return nil
}

// mayDecide returns nil if the actor may give the next decision of an approval, and as whose
// member; r has its decisions counted. Beside MayJudge, it decides for a group that the approval names, and nobody who
// made it, or whom it made, has decided before.
func (s *ApprovalService) mayDecide(tx store.Tx, a core.Actor, r *records.Approval) (in records.Eligibility, err error) {
	if err := s.MayJudge(tx, a, core.AboutApproval(r)); err != nil {
		return in, err
	}
	if err := s.asItsUser(tx, a, r); err != nil {
		return in, err
	}
	away, err := records.Away(tx, a.Tenant, r)
	if err != nil {
		return in, err
	}
	in, err = records.EligibilityOf(tx, a.Tenant, r, away, a.Person, s.Config.Now(), func(email string) (bool, error) { return s.couldDecide(tx, a.Tenant, email, r) })
	if err != nil {
		return in, err
	}
	if err := access.AsMember(a.Principal, r.Groups, in.Groups); err != nil {
		return in, err
	}
	if r.Status != countersign.ApprovalPending {
		return in, nil // it isn't decided any more, and who asks is told so
	}
	return in, s.mayFollow(a, r)
}

// couldDecide reports that a user who is away could decide an approval themselves, so that
// their delegate may in their place.
func (s *ApprovalService) couldDecide(tx store.Tx, tenant, email string, r *records.Approval) (bool, error) {
	u, err := core.UserOf(tx, tenant, email)
	if err == nil {
		away := core.Actor{Principal: core.PrincipalOfUser(u)}
		err = cmp.Or(access.Allow(away.Principal, access.DecideApproval), access.InScope(away.Principal, r.ProjectID), s.MayJudge(tx, away, core.AboutApproval(r)), s.mayFollow(away, r))
	}
	switch countersign.ErrorCode(err) {
	case countersign.CodeNotFound, countersign.CodeRoleRequired, countersign.CodeProjectScope, countersign.CodeSelfApproval, countersign.CodeStateConflict:
		return false, nil
	}
	return err == nil, err
}

// mayFollow returns nil if nobody whose decision counts has decided an approval yet beside whom
// the actor may not: themself by whatever token, who made it or whom it made, and a delegate in
// its place. Once enough count, because somebody has a right again, those who have decided may do
// so anew, in place of what they decided: nothing else decides the approval then.
func (s *ApprovalService) mayFollow(a core.Actor, r *records.Approval) error {
	enough := runrepo.Enough(r)
	for i, other := range r.Deciders {
		switch {
		case i < len(r.Decisions) && r.Decisions[i].Left, enough && access.SameDecider(a.Requester(), other.Requester):
			continue
		case access.SameDecider(a.Requester(), other.Requester):
			return countersign.Errorf(countersign.CodeStateConflict, "you have decided approval %s already; %d different deciders must approve", r.ID, r.Needed())
		case a.Person != "" && slices.Contains(other.OnBehalfOf, a.Person):
			return countersign.Errorf(countersign.CodeStateConflict, "%s has decided approval %s in your place; %d different deciders must approve", other.ID, r.ID, r.Needed())
		}
		if err := s.Config.Eyes.MayJoin(a.Requester(), other.Requester); err != nil {
			return err
		}
	}
	return nil
}
