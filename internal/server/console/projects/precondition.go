package projects

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// preconditionOf is a capability's precondition, an empty one for none.
func preconditionOf(c countersign.Capability) countersign.Precondition {
	if c.Precondition == nil {
		return countersign.Precondition{}
	}
	return *c.Precondition
}

// whenOf is what must be so as it is typed, "" for nothing.
func whenOf(c countersign.Capability) string {
	when := preconditionOf(c).When
	if when == nil {
		return ""
	}
	text, err := countersign.Marshal(when)
	if err != nil {
		return "" // it was read from JSON
	}
	return string(text)
}

// typedPrecondition reads the fields of a precondition; a form that doesn't show them leaves it as it
// is.
func typedPrecondition(v *web.Request, c *countersign.Capability) error {
	if _, shown := v.R.PostForm["precondition.capability"]; !shown {
		return nil
	}
	p := countersign.Precondition{Capability: v.Form("precondition.capability"), Fields: form.Names(v.Form("precondition.fields"))}
	text := v.Form("precondition.when")
	if p.Capability == "" {
		c.Precondition = nil
		if len(p.Fields) > 0 || !safetext.Blank(text) {
			return web.Invalid("precondition.capability", "choose the read, or leave its fields empty")
		}
		return nil
	}
	if !safetext.Blank(text) {
		p.When = new(countersign.Condition)
		if err := exactjson.Decode([]byte(text), p.When); err != nil {
			why := err.Error()
			if e := web.RefusalOf(err); e != nil {
				why = e.Message
			}
			return web.Invalid("precondition.when", "%s", why)
		}
	}
	c.Precondition = &p
	return nil
}
