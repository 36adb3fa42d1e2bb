package access

import (
	"testing"

	"github.com/countersign/countersign"
)

// An earlier release kept several users whose addresses are one after folding. They may be
// one person, so none judges what another asked for, by session, token or made token.
func TestUsersWhoseAddressesFoldToTheSameAreOnePairOfEyes(t *testing.T) {
	spelled := []string{"kate@example.com", "\uff4bate@example.com", "\u212aate@example.com"}
	for _, asks := range spelled {
		for _, decides := range spelled {
			asking := Principal{ID: "user:" + asks, Email: asks, Person: asks}
			token := Principal{ID: "token:hers", Email: asks, Person: asks}
			deciding := Principal{ID: "user:" + decides, Email: decides, Person: decides}
			made := Principal{ID: "token:made", Email: "bob@example.com", Person: "bob@example.com", Lineage: deciding.Descent()}
			for _, pair := range [][2]Principal{{asking, deciding}, {token, deciding}, {asking, {ID: "token:theirs", Email: decides, Person: decides}}, {asking, made}} {
				for _, eyes := range []Eyes{EyesOfPrincipals, EyesOfPeople} {
					if err := eyes.MayJudge(pair[1], pair[0].Requester()); countersign.ErrorCode(err) != countersign.CodeSelfApproval {
						t.Errorf("%s: %q asked, %q decides: %v", eyes, pair[0].ID, pair[1].ID, err)
					}
				}
			}
			if err := EyesOfPeople.MayJudge(deciding, Requester{ID: "token:x", Makers: []string{"user:" + asks}}); err == nil {
				t.Errorf("%q decides what a token of %q asked for", decides, asks)
			}
			if !SharedMaker(asking.Requester(), made.Requester()) {
				t.Errorf("%q and what %q made share nobody", asks, decides)
			}
		}
	}
}
