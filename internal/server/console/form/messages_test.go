package form

import (
	"testing"

	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// TestAFieldThatCannotBeReadSaysWhatWouldBe reads the message beside each.
func TestAFieldThatCannotBeReadSaysWhatWouldBe(t *testing.T) {
	expectation := func(v *web.Request) error { _, err := TypedExpectation(v); return err }
	object := func(v *web.Request) error { _, err := ObjectOf("input", v.Form("input")); return err }
	webtest.Read(t, []webtest.Refused{
		{Read: expectation, Fields: "expectation.equals=1", Want: "invalid_request: expectation.field: say which field"},
		{Read: expectation, Fields: "expectation.field=status&expectation.equals=done", Want: `invalid_request: expectation.equals: write JSON, such as "succeeded" or 249.00`},
		{Read: object, Fields: "input=[]", Want: "invalid_request: input: write a JSON object, such as {}"},
	})
}
