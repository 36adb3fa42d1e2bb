package runs

import (
	"testing"

	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// TestAFormWithoutAKeyStartsNothing reads the message beside each.
func TestAFormWithoutAKeyStartsNothing(t *testing.T) {
	start := func(v *web.Request) error { _, err := startAgain(v, &againOf{}, nil); return err }
	webtest.Read(t, []webtest.Refused{
		{Read: start, Fields: "key=a+b", Want: "idempotency_key_required: the form has no key; open the page again"},
	})
}
