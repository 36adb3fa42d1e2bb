package control_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// Addresses that a reader takes for ada@example.com.
var lookalikes = []string{"ada\u200b@example.com", "\u0430da@example.com"}

// Wherever an address becomes a user's, the same rule refuses one that passes for
// another, and says which field or setting it stood in.
func TestNobodyBecomesARealmAdministratorByALookalike(t *testing.T) {
	g := openGate(t)
	for _, email := range lookalikes {
		_, err := g.service.SetUp(background, g.first.Link, email, "10.0.0.1", control.Actor{RequestID: "req-1"})
		if countersign.ErrorCode(err) != countersign.CodeInvalidRequest || !strings.Contains(err.Error(), " email: ") {
			t.Errorf("set up: %v", err)
		}
		_, err = g.service.EnsureAdmin(background, email)
		if countersign.ErrorCode(err) != countersign.CodeInvalidRequest || !strings.Contains(err.Error(), "SVC_PLATFORM_ADMIN_EMAIL: ") {
			t.Errorf("by the setting: %v", err)
		}
	}
	_, err := g.service.SetUp(background, g.first.Link, "ada@example.com", "10.0.0.1", control.Actor{RequestID: "req-1"}) // the link is good still
	g.must(err)
	for _, email := range lookalikes { // there is one, so nothing is made of it
		_, err := g.service.EnsureAdmin(background, email)
		g.must(err)
	}
}

// A sign-in by a lookalike is one of somebody else, whom nobody knows.
func TestALookalikeSignsNobodyIn(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	for _, email := range lookalikes {
		if _, err := g.service.SignInVerified(background, email, "10.0.0.1", control.Actor{RequestID: "req-1"}); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
			t.Errorf("%q, verified: %v", email, err)
		}
		_, err := g.service.AskForCode(background, email, "10.0.0.1")
		g.must(err) // the answer is the same as for everybody
	}
	g.service.Close()
	select {
	case mail := <-g.mails:
		t.Errorf("a code was sent: %s", mail)
	default:
	}
}
