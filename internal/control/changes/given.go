package changes

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/assertion"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// given is a decision that may be kept, and what it does to the change.
type given struct {
	decided countersign.ChangeDecided
	by      records.Decider
	status  countersign.ChangeStatus
	makes   bool // the change is made with it
}

// given judges a decision: whether the actor may give it, and what it does.
func (s *DecisionService) given(tx store.Tx, a core.Actor, r *records.Change, d countersign.ChangeDecision) (g given, err error) {
	person, groups, err := s.mayDecide(tx, a, r)
	if err != nil {
		return g, err
	}
	switch {
	case s.lapsed(r):
		return g, countersign.Errorf(countersign.CodeStateConflict, "change %s has lapsed: %s", r.ID, inTime(r))
	case r.Status != countersign.ChangeProposed:
		return g, countersign.Errorf(countersign.CodeStateConflict, "change %s is %s already", r.ID, r.Status)
	}
	if err := mayFollow(a, r); err != nil {
		return g, err
	}
	g = given{decided: countersign.ChangeDecided{Decision: d.Decision, By: a.ID, Reason: d.Reason, At: s.Config.Now()}, by: records.Decider{Requester: a.Requester(), Person: person}}
	if g.decided.Assertion, err = s.signed(tx, a, r, d); err != nil {
		return g, err
	}
	if d.Decision == countersign.ApprovalRejected {
		g.status = countersign.ChangeRejected
		return g, nil
	}
	enough, err := s.enough(tx, a.Tenant, r, groups)
	g.status = countersign.ChangeProposed
	if enough {
		g.status, g.makes = countersign.ChangeApproved, access.GuardOf(access.Operation(r.Operation)) != access.ProposedSecret
	}
	return g, err
}

// signed checks the passkey's answer that comes with a decision.
func (s *DecisionService) signed(tx store.Tx, a core.Actor, r *records.Change, d countersign.ChangeDecision) (*countersign.Assertion, error) {
	if d.Assertion != nil {
		return s.asserted(tx, a, assertion.ChangeDecision{ChangeID: r.ID, Digest: r.Digest, Decision: d.Decision, Reason: d.Reason}, d.Assertion)
	}
	settings, err := records.SettingsOf(tx, a.Tenant)
	if err == nil && settings.DecisionAssertion == countersign.DecisionAssertionPasskey && d.Decision == countersign.ApprovalApproved {
		err = assertion.Required()
	}
	return nil, err
}

// mayDecide finds the person who decides, and for which groups: an administrator now and when it was proposed, who
// is nobody of those who proposed it.
func (s *DecisionService) mayDecide(tx store.Tx, a core.Actor, r *records.Change) (person string, groups []string, err error) {
	if person, err = s.personOf(tx, a); err != nil {
		return "", nil, err
	}
	u, err := core.UserOf(tx, a.Tenant, person)
	if err != nil {
		return "", nil, core.Found(err, "user", person)
	}
	if err := themselves(u, r); err != nil {
		return "", nil, err
	}
	if !slices.Contains(r.Admins, person) {
		return "", nil, countersign.Errorf(countersign.CodeRoleRequired, "only who was an administrator when change %s was proposed, on %s, decides it", r.ID, r.ProposedAt.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if access.SharedMaker(asked(a, person), r.Proposer) {
		return "", nil, countersign.Errorf(countersign.CodeSelfApproval, "you proposed change %s, or who did and you go back to one maker, so somebody else must decide", r.ID)
	}
	if groups, err = records.GroupsOfDecider(tx, a.Tenant, r.Groups, u); err == nil && groups == nil {
		err = countersign.Errorf(countersign.CodeRoleRequired, "members of %s decide this, and you are in none of them", strings.Join(r.Groups, " and "))
	}
	return person, groups, err
}

// themselves returns nil if a user may decide a change themselves, whatever their token may.
func themselves(u *records.User, r *records.Change) error {
	if r.ProjectID == "" {
		if u.ProjectIDs != nil {
			return countersign.Errorf(countersign.CodeProjectScope, "this covers the whole tenant; %s is limited to projects", u.Email)
		}
		return access.MayThemselves(core.PrincipalOfUser(u), access.DecideChange)
	}
	return access.MayThemselves(core.PrincipalOfUser(u), access.DecideChange, r.ProjectID)
}

// personOf is the user who decides: of a session, of a chat account, or of a token that its user
// has confirmed, even where for runs it would count without.
func (s *DecisionService) personOf(tx store.Tx, a core.Actor) (string, error) {
	id, byToken := strings.CutPrefix(a.ID, "token:")
	if !byToken {
		if a.Person == "" {
			return "", errNobody
		}
		return a.Person, nil
	}
	rec, _, err := records.Tokens.Get(tx, a.Tenant, id)
	if err != nil {
		return "", core.Found(err, "token", id)
	}
	switch {
	case rec.Person() != "":
		return rec.Person(), nil
	case rec.UserEmail != "":
		return "", countersign.Errorf(countersign.CodeRoleRequired, "people decide changes that weaken, and %s has not confirmed that this token is theirs; they do so in the console's settings, or sign in and decide there", rec.UserEmail)
	}
	return "", errNobody
}

var errNobody = countersign.Errorf(countersign.CodeRoleRequired, "people decide changes that weaken, and no user stands behind this token; sign in as a user, or use a token that its user has confirmed")

// asked is who decides, as who asks is remembered, with the user who stands behind it.
func asked(a core.Actor, person string) access.Requester {
	r := a.Requester()
	r.Email = person
	return r
}

// mayFollow returns nil if nobody who has approved a change and the actor may be one person.
func mayFollow(a core.Actor, r *records.Change) error {
	for _, other := range r.Deciders {
		if access.SameDecider(a.Requester(), other.Requester) {
			return countersign.Errorf(countersign.CodeStateConflict, "you have decided change %s already; %d different administrators must approve", r.ID, r.ApprovalsNeeded)
		}
		if access.SharedMaker(a.Requester(), other.Requester) {
			return countersign.Errorf(countersign.CodeSelfApproval, "%s has decided change %s already, and you both go back to one maker; somebody else must decide", other.ID, r.ID)
		}
	}
	return nil
}

// enough reports that with one more approval, for these groups, a change has all that it needs. An
// earlier approval counts while who gave it might still give it.
func (s *DecisionService) enough(tx store.Tx, tenant string, r *records.Change, groups []string) (bool, error) {
	count, decided := int64(1), slices.Clone(groups)
	for _, by := range r.Deciders {
		in, err := s.counts(tx, tenant, r, by)
		if err != nil {
			return false, err
		}
		if in != nil {
			count, decided = count+1, append(decided, in...)
		}
	}
	open := slices.ContainsFunc(r.Groups, func(id string) bool { return !slices.Contains(decided, id) })
	return count >= r.ApprovalsNeeded && !open, nil
}

// counts are the groups for which an earlier approval counts at this moment; nil if it doesn't.
func (s *DecisionService) counts(tx store.Tx, tenant string, r *records.Change, by records.Decider) ([]string, error) {
	u, err := core.UserOf(tx, tenant, by.Person)
	if countersign.ErrorCode(err) == countersign.CodeNotFound {
		return nil, nil
	}
	if err != nil || themselves(u, r) != nil {
		return nil, err
	}
	if strings.HasPrefix(by.ID, "token:") {
		if _, err := s.Present(tx, core.Actor{Principal: access.Principal{ID: by.ID, Tenant: tenant}}); err != nil {
			if countersign.ErrorCode(err) == countersign.CodeUnauthenticated {
				return nil, nil
			}
			return nil, err
		}
	}
	return records.GroupsOfDecider(tx, tenant, r.Groups, u)
}

func userOf(principal string) (string, bool) { return strings.CutPrefix(principal, "user:") }
