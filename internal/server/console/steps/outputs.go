package steps

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The fields of an earlier step's output that an input may be taken from: those that its
// capability declares. Of one that declares none, what else it says of its output is
// offered, and any other field may be typed.

// wholeOutput names the whole output.
const wholeOutput = "$"

// outputsOf are the fields that a capability is known to answer with.
func outputsOf(c *countersign.Capability) []string {
	out := slices.Clone(c.Outputs)
	if len(out) == 0 {
		if c.Expectation != nil && c.Expectation.Field != wholeOutput {
			out = append(out, c.Expectation.Field)
		}
		for _, name := range c.Sensitive {
			if _, isInput := c.InputSchema[name]; !isInput {
				out = append(out, name)
			}
		}
	}
	return slices.Compact(append(out, wholeOutput))
}

// offerAt is what the row with a key calls.
func (f *Form) offerAt(key string) *Offer {
	for i := range f.count() {
		if f.Request.Form(stepField(i, "key")) == key {
			return f.find(f.Request.Form(stepField(i, "use")))
		}
	}
	return nil
}

// offeredOutputs are the fields of the chosen step's output; of all earlier ones, with their
// names, while none is chosen.
func (f *Form) offeredOutputs(chosen string, earlier []form.Choice) (out []form.Choice) {
	for _, step := range earlier {
		o := f.offerAt(step.Value)
		if o == nil || chosen != "" && step.Value != chosen {
			continue
		}
		for _, name := range outputsOf(o.Capability) {
			one := form.Choice{Value: name}
			if chosen == "" {
				one.Word = name + ", " + step.Word
			}
			out = append(out, one)
		}
	}
	return out[:min(len(out), countersign.MaxOutputs)]
}

// mostNamed is how many fields an error names.
const mostNamed = 20

// checkOutput refuses a field that the capability of an earlier step doesn't declare.
func (f *Form) checkOutput(at, key, name string) error {
	o := f.offerAt(key)
	if o == nil || len(o.Outputs) == 0 || name == wholeOutput || name == o.OutputField {
		return nil
	}
	for _, known := range o.Outputs {
		if name == known || strings.HasPrefix(name, known+".") || strings.HasPrefix(known, name+".") {
			return nil
		}
	}
	named := strings.Join(o.Outputs[:min(len(o.Outputs), mostNamed)], ", ")
	if len(o.Outputs) > mostNamed {
		named += " and others"
	}
	return web.Invalid(at, "%s has no field %s in its output; it has %s", o.Name, name, strings.ReplaceAll(named, "; ", ", "))
}
