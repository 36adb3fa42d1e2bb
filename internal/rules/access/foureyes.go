package access

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Requester is the record of who asked for a run, so that the four-eyes rule can be
// applied after the principal is deleted.
type Requester struct {
	ID     string   `json:"id"`
	Email  string   `json:"email,omitempty"`
	Makers []string `json:"makers,omitempty"` // of a token, of an agent's identity, or of the link that began a session: who made it, nearest first

	Identity   *countersign.Identity   `json:"identity,omitempty"`
	OnBehalfOf *countersign.OnBehalfOf `json:"onBehalfOf,omitempty"` // for whom an agent asked
	Behind     []string                `json:"behind,omitempty"`     // users that this person is known to be
	Stranger   bool                    `json:"stranger,omitempty"`   // that is nobody whom this service knows
}

// Requester is the principal as a run remembers it.
func (p Principal) Requester() Requester {
	return Requester{ID: p.ID, Email: p.Email, Makers: p.Lineage, Identity: p.Identity, OnBehalfOf: p.OnBehalfOf}
}

// Chain is the principal itself, the user behind it, the users for whom it asked, and its makers
// up to a user or the bootstrap token.
func (r Requester) Chain() []string {
	out := []string{r.ID}
	if user := "user:" + r.Email; r.Email != "" && user != r.ID {
		out = append(out, user)
	}
	return append(append(out, r.Behind...), r.Makers...)
}

// persons are whom the requester may be: itself, the user behind it, and the users for whom an
// agent asked. A session that a
// sign-in link began may be that of whoever made the link, and could have used it in the
// user's place; so may a token that was made in one, directly or through others.
func (r Requester) persons() []string {
	out := []string{r.ID}
	if r.Email != "" {
		out = append(out, "user:"+r.Email)
	}
	return append(append(out, r.Behind...), r.byLinkOf()...)
}

// byLinkOf are the makers of the link behind a session, or behind the session that a token goes
// back to; none where there is no link. A chain of makers ends at a user, but for a link's.
func (r Requester) byLinkOf() []string {
	if r.ByLink() {
		return r.Makers
	}
	at := slices.IndexFunc(r.Makers, func(id string) bool { return strings.HasPrefix(id, "user:") })
	if at < 0 {
		return nil
	}
	return r.Makers[at+1:]
}

// ByLink reports a user's session that began with a sign-in link somebody made.
func (r Requester) ByLink() bool { return strings.HasPrefix(r.ID, "user:") && len(r.Makers) > 0 }

// LinkMakers are the makers of the sign-in link that a user's session began with.
func (r Requester) LinkMakers() []string {
	if r.ByLink() {
		return r.Makers
	}
	return nil
}

// meet reports that two lists of principals have one in common.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(id string) bool { return slices.Contains(b, id) })
}

// folded is the requester with addresses as they are compared.
func (r Requester) folded() Requester {
	r.ID, r.Email, r.Makers, r.Behind = foldedID(r.ID), Folded(r.Email), foldedIDs(r.Makers), foldedIDs(r.Behind)
	return r
}

// foldedID is a principal's id with the address of a user's as it is compared.
func foldedID(id string) string {
	if email, is := strings.CutPrefix(id, "user:"); is {
		return "user:" + Folded(email)
	}
	return id
}

func foldedIDs(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = foldedID(id)
	}
	return out
}

// SharedMaker reports two principals whose chains, ends included, have a common
// element: one person may have controlled both.
func SharedMaker(a, b Requester) bool {
	return meet(a.folded().Chain(), b.folded().Chain())
}

// Eyes says whose four eyes an installation asks for (contract 11); none named, those
// of principals.
type Eyes string

// The settings of SVC_PLATFORM_FOUR_EYES.
const (
	EyesOfPrincipals Eyes = "principals" // neither who asked nor a token that they made
	EyesOfPeople     Eyes = "people"     // besides, a user decides, who made nothing that asked
	EyesOfAnybody    Eyes = "anybody"    // off, by SVC_PLATFORM_ALLOW_SELF_APPROVAL, for an installation of one person
)

// MayJudge is nil when the principal may judge what the requester asked for.
func (e Eyes) MayJudge(p Principal, r Requester) error {
	switch e {
	case EyesOfAnybody:
		return nil
	case EyesOfPeople:
		return judgedByPeople(p, r)
	default:
		return FourEyes(p, r)
	}
}

// judgedByPeople adds to FourEyes that a person is known to decide, and stands nowhere in the
// chain of who asked.
func judgedByPeople(p Principal, r Requester) error {
	switch {
	case p.Person == "" && p.Email != "":
		return countersign.Errorf(countersign.CodeRoleRequired, "people decide here, and %s has not confirmed that this token is theirs; they do so in the console's settings, or sign in and decide there", p.Email)
	case p.Person == "":
		return countersign.Errorf(countersign.CodeRoleRequired, "people decide here, and no user stands behind this token; sign in as a user, or use a token that its user has confirmed")
	}
	if err := FourEyes(p, r); err != nil {
		return err
	}
	if r.Stranger && !slices.Contains(p.SignedInBy, r.OnBehalfOf.Issuer) {
		return countersign.Errorf(countersign.CodeSelfApproval, "an agent asked for this run on behalf of %s, whom this service doesn't know and who could be you; a user who has signed in by %s as somebody else decides", r.OnBehalfOf.Shown(), r.OnBehalfOf.Issuer)
	}
	judge := p.Requester().folded()
	if err := byOwnLink(judge, r.folded().Chain(), "made the token that asked for this run"); err != nil {
		return err
	}
	if meet(r.folded().Chain(), append(judge.persons(), foldedID("user:"+p.Person))) {
		return countersign.Errorf(countersign.CodeSelfApproval, "you made the token that asked for this run, so someone else must decide")
	}
	return nil
}

// byOwnLink refuses a session that counts as whoever made the link that began it, and as nobody
// else of those named. It says so: its user did nothing that bars them.
func byOwnLink(judge Requester, asked []string, did string) error {
	at := slices.IndexFunc(judge.LinkMakers(), func(id string) bool { return slices.Contains(asked, id) })
	if at < 0 || slices.Contains(asked, judge.ID) {
		return nil
	}
	return countersign.Errorf(countersign.CodeSelfApproval, "you signed in by a link of %s, so you count as %s, who %s; sign in by a code or your provider to decide", judge.Makers[0], judge.Makers[at], did)
}

// MayThemselves is nil when the user behind a token has, at this moment, the role and the
// projects for what the token is used for.
func MayThemselves(user Principal, op Operation, projects ...string) error {
	err := Allow(user, op)
	if err == nil {
		err = InScope(user, projects...)
	}
	if err == nil {
		return nil
	}
	return countersign.Errorf(countersign.ErrorCode(err), "people decide here, and %s, for whom this token stands, may not do this themselves; their roles and projects bound what it decides", user.Email)
}

// FourEyes is nil when the principal may judge what the requester asked for, and
// self_approval when they are the same: the same token, the same user, or a
// token that the requester made, directly or through others (contract 3). A session that a
// sign-in link began and the makers of that link are the same, too. Users whose
// addresses fold to the same are one: an earlier release kept them as several.
func FourEyes(p Principal, r Requester) error {
	asked, judge := r.folded().persons(), p.Requester().folded()
	if !r.ByLink() {
		if err := byOwnLink(judge, asked, "asked for this run"); err != nil {
			return err
		}
	}
	if !meet(judge.persons(), asked) && !meet(judge.Makers, asked) {
		return nil
	}
	if behind := foldedIDs(r.Behind); meet(judge.persons(), behind) || meet(judge.Makers, behind) {
		return countersign.Errorf(countersign.CodeSelfApproval, "an agent asked for this run on your behalf, so someone else must decide")
	}
	if len(r.byLinkOf())+len(judge.byLinkOf()) > 0 {
		return countersign.Errorf(countersign.CodeSelfApproval, "who asked for this run and you may be one person, since a session counts as whoever made the sign-in link that began it, and so does a token that was made in one; someone else must decide, or sign in another way")
	}
	return countersign.Errorf(countersign.CodeSelfApproval, "you asked for this run, so someone else must decide")
}
