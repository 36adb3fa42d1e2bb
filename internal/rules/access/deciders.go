package access

import (
	"strings"

	"github.com/countersign/countersign"
)

// SameDecider reports that who decides now has decided before: by the same token, or as the
// same user by whatever token.
func SameDecider(p, earlier Requester) bool {
	p, earlier = p.folded(), earlier.folded()
	user := func(r Requester) string {
		if id, is := strings.CutPrefix(r.ID, "user:"); is {
			return id
		}
		return r.Email
	}
	return p.ID == earlier.ID || user(p) != "" && user(p) == user(earlier)
}

// MayJoin is nil when the principal may decide beside one who has decided already:
// self_approval where one of the two made the other, or made the link that began its
// session, so that one person could be both.
func (e Eyes) MayJoin(p, earlier Requester) error {
	if e == EyesOfAnybody {
		return nil
	}
	p, earlier = p.folded(), earlier.folded()
	if meet(p.Makers, earlier.persons()) || meet(earlier.Makers, p.persons()) {
		return countersign.Errorf(countersign.CodeSelfApproval, "%s has decided this already, and one person may be both of you, who made the token or the sign-in link of the other; someone else must decide", earlier.ID)
	}
	return nil
}

// AsMember is nil when the principal is a member of a group that an approval names. in are
// those that it is a member of, out of the named ones.
func AsMember(p Principal, named, in []string) error {
	switch {
	case len(named) == 0 || len(in) > 0:
		return nil
	case p.Person == "" && p.Email != "":
		return countersign.Errorf(countersign.CodeRoleRequired, "members of %s decide this, and %s has not confirmed that this token is theirs; they do so in the console's settings, or sign in and decide there", strings.Join(named, " and "), p.Email)
	case p.Person == "":
		return countersign.Errorf(countersign.CodeRoleRequired, "members of %s decide this, and no user stands behind this token; sign in as a user, or use a token that its user has confirmed", strings.Join(named, " and "))
	default:
		return countersign.Errorf(countersign.CodeRoleRequired, "members of %s decide this, and you are in none of them", strings.Join(named, " and "))
	}
}
