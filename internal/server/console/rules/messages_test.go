package rules

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// TestARuleThatCannotBeReadSaysWhatWouldBe reads the message beside each.
func TestARuleThatCannotBeReadSaysWhatWouldBe(t *testing.T) {
	budgets := func(v *web.Request) error { _, err := TypedBudgets(v); return err }
	rules := func(v *web.Request) error { _, err := TypedRules(v, countersign.Capability{}); return err }
	webtest.Read(t, []webtest.Refused{
		{Read: budgets, Fields: "budget0most=many&budget0reason=r", Want: "invalid_request: budgets: row 1 needs a number of what there may be at most"},
		{Read: budgets, Fields: "budget0most=1.5&budget0reason=r", Want: "invalid_request: budgets: row 1 counts calls: it needs a whole number, 1 or more"},
		{Read: rules, Fields: "rule0then=ASK&rule0reason=r", Want: "invalid_request: approvalRules: Rule 1 compares nothing"},
	})
}
