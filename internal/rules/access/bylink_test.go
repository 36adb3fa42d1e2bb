package access

import (
	"testing"

	"github.com/countersign/countersign"
)

// Sessions that began with a sign-in link which ada made for bob, and for carol.
var (
	carol      = Principal{ID: "user:carol@example.com", Email: "carol@example.com", Person: "carol@example.com"}
	bobByAda   = Principal{ID: "user:bob@example.com", Email: "bob@example.com", Person: "bob@example.com", Session: "s", Lineage: ada.Descent()}
	carolByAda = Principal{ID: carol.ID, Email: carol.Email, Person: carol.Person, Session: "s", Lineage: ada.Descent()}
	carolByBob = Principal{ID: carol.ID, Email: carol.Email, Person: carol.Person, Session: "s", Lineage: bobByAda.Descent()} // that session made the next link
	bobByRoot  = Principal{ID: "user:bob@example.com", Email: "bob@example.com", Person: "bob@example.com", Session: "s", Lineage: root.Descent()}
	madeByBob  = Principal{ID: "token:made", Person: "bob@example.com", Lineage: bobByAda.Descent()} // in that session
)

func TestALinksSessionAndItsMakersAreOnePairOfEyes(t *testing.T) {
	adaHerself := ada
	adaHerself.Person = ada.Email
	for _, test := range []struct {
		name               string
		asked, decides     Principal
		principals, people bool // allowed under each setting
	}{
		{"the maker asked, the link's session decides", ada, bobByAda, false, false},
		{"the link's session asked, the maker decides", bobByAda, adaHerself, false, false},
		{"two sessions by links of one maker", bobByAda, carolByAda, false, false},
		{"a link that a link's session made", ada, carolByBob, false, false},
		{"the first maker decides for the last session", carolByBob, adaHerself, false, false},
		{"a token of the maker asked, the link's session decides", bare, bobByAda, true, false}, // as the maker herself
		{"a token of the maker decides what the link's session asked for", bobByAda, bare, false, false},
		{"a token that the link's session made decides what the maker asked for", ada, madeByBob, false, false},
		{"the maker's token asked, and one decides that the link's session made", adas, madeByBob, false, false},
		{"links of two makers", bobByAda, Principal{ID: carol.ID, Email: carol.Email, Person: carol.Person, Lineage: root.Descent()}, true, true},
		{"somebody who has to do with neither", bobByAda, carol, true, true},
		{"the link's session decides for somebody else", carol, bobByAda, true, true},
		{"a link of a token, asked by that token", root, bobByRoot, false, false},
		{"a link of a token, asked by a token that it made", left, bobByRoot, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for eyes, allowed := range map[Eyes]bool{EyesOfPrincipals: test.principals, EyesOfPeople: test.people} {
				err := eyes.MayJudge(test.decides, test.asked.Requester())
				if (err == nil) != allowed {
					t.Errorf("%s: %v", eyes, err)
				}
			}
			if err := EyesOfAnybody.MayJudge(test.decides, test.asked.Requester()); err != nil {
				t.Errorf("one person alone: %v", err)
			}
		})
	}
}

// Where several must decide, a link's session adds nobody to its maker.
func TestALinksSessionDoesNotDecideBesideItsMaker(t *testing.T) {
	for _, test := range []struct {
		name          string
		first, second Principal
		allowed       bool
	}{
		{"the maker", ada, bobByAda, false},
		{"another link of the maker", carolByAda, bobByAda, false},
		{"a link of the session", carolByBob, bobByAda, false},
		{"a token of the maker", bare, bobByAda, false},
		{"somebody else", carol, bobByAda, true},
		{"a link of another maker", carolByAda, bobByRoot, true},
	} {
		for _, pair := range [][2]Principal{{test.first, test.second}, {test.second, test.first}} {
			err := EyesOfPrincipals.MayJoin(pair[0].Requester(), pair[1].Requester())
			if (err == nil) != test.allowed || err != nil && countersign.ErrorCode(err) != countersign.CodeSelfApproval {
				t.Errorf("%s: %s beside %s: %v", test.name, pair[0].ID, pair[1].ID, err)
			}
		}
	}
}
