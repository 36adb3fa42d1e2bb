package browser

import (
	"regexp"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var setupLink = regexp.MustCompile(`/console(/setup\?link=[0-9a-f]{64})`)

// TestSetUp: an empty store, its link, the first person.
func TestSetUp(t *testing.T) {
	if !started(t) {
		return
	}
	s := harness.StartPrinting(t)
	s.Admin = s.As(regexp.MustCompile(`csn_\w{49}`).FindString(s.Log()))
	ada := newTab(t, s)
	ada.open(setupLink.FindStringSubmatch(s.Log())[1])
	ada.fill("#email", "ada@example.com")
	ada.press("main", "Set up and sign in")
	ada.sees("Overview")
	ada.open("/settings")
	ada.sees("realm administrator")
	ada.press("main", "Sign out")
	ada.at("/sign-in")
	ada.signIn("ada@example.com")
	ada.sees("Overview")
}
