package control_test

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/control"
)

// TestWhoSignsInUsesUpNoAttempt: people of one office share a network address. Signing in
// at the provider counted twice, and the eleventh of them was refused.
func TestWhoSignsInUsesUpNoAttempt(t *testing.T) {
	for _, shared := range []bool{false, true} {
		g := openGate(t)
		g.user("ada@example.com")
		g.service = g.replica(shared)
		for n := range 50 {
			g.must(g.service.Try(background, "192.0.2.1"))
			session, err := g.service.SignInVerified(background, "ada@example.com", "192.0.2.1", control.Actor{RequestID: "req-1"})
			if err != nil || !g.in(session) {
				t.Fatalf("shared %v, sign-in %d: %v", shared, n+1, err)
			}
		}
		for range 20 {
			g.must(g.service.Try(background, "192.0.2.1"))
		}
		if err := g.service.Try(background, "192.0.2.1"); !errors.Is(err, control.ErrTooMany) {
			t.Errorf("shared %v: failures are not counted: %v", shared, err)
		}
	}
}

func TestSigningInAtTheProviderIsBegunWithinBounds(t *testing.T) {
	g := openGate(t)
	for range 200 {
		g.must(g.service.Begin(background, "192.0.2.1"))
	}
	if err := g.service.Begin(background, "192.0.2.1"); !errors.Is(err, control.ErrTooMany) {
		t.Errorf("the 201st at once: %v", err)
	}
	g.must(g.service.Begin(background, "192.0.2.2"))
}
