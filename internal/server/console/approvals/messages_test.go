package approvals

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// TestAnAnswerOfABrowserThatCannotBeReadSaysWhatWouldBe reads the message beside each.
func TestAnAnswerOfABrowserThatCannotBeReadSaysWhatWouldBe(t *testing.T) {
	assertion := func(v *web.Request) error { return typedAssertion(v, &countersign.Decision{}) }
	webtest.Read(t, []webtest.Refused{
		{Read: assertion, Fields: "assertion=none", Want: "assertion_invalid: assertion: the browser's answer can't be read; reload the page and approve it again"},
	})
}
