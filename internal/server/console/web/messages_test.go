package web_test

import (
	"testing"

	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// TestAReasonThatIsBlankIsAskedFor reads the message beside each.
func TestAReasonThatIsBlankIsAskedFor(t *testing.T) {
	reason := func(v *web.Request) error { return web.TypedReason(v.Form("reason")) }
	webtest.Read(t, []webtest.Refused{
		{Read: reason, Fields: "reason=+", Want: "invalid_request: reason: say why; the audit log keeps it"},
	})
}
