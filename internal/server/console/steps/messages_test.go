package steps

import (
	"testing"

	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// TestAStepThatCannotBeReadSaysWhatWouldBe reads the message beside each.
func TestAStepThatCannotBeReadSaysWhatWouldBe(t *testing.T) {
	steps := func(v *web.Request) error {
		f := shopSteps(v.R.PostForm)
		_, err := f.Typed()
		return err
	}
	webtest.Read(t, []webtest.Refused{
		{Read: steps, Fields: "steps%5B0%5D.key=k0&steps%5B0%5D.id=a&steps%5B0%5D.use=acme-shop%2Fgone", Want: "invalid_request: steps[0].capability: gone is no longer there; remove the step"},
		{Read: steps, Fields: "steps%5B0%5D.key=k0&steps%5B0%5D.id=a&steps%5B0%5D.use=acme-shop%2Frefunds.create&steps%5B0%5D.inputBindings.orderId.stepId=later", Want: "invalid_request: steps[0].inputBindings.orderId.stepId: choose an earlier step"},
		{Read: steps, Fields: "steps%5B0%5D.key=k0&steps%5B0%5D.id=a&steps%5B0%5D.use=acme-shop%2Frefunds.create&steps%5B1%5D.key=k1&steps%5B1%5D.id=b&steps%5B1%5D.use=acme-shop%2Frefunds.create&steps%5B1%5D.inputBindings.orderId.stepId=k0", Want: "invalid_request: steps[1].inputBindings.orderId.field: say which field"},
	})
}
