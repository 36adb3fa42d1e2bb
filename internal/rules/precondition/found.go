package precondition

import (
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
)

// Found is what a read for a precondition found. It is made outside of the store's turns.
type Found struct {
	StatusCode int
	Values     map[string]countersign.Value // nil where there is nothing to judge
	Holds      bool                         // of what must be so; true without a condition
	// Problem says why nobody can say whether it holds, "" if one can.
	Problem string
	NotSent bool // nothing of the read left this machine
}

// Read reads what the answer to a read says of a precondition.
func Read(m *cost.Meter, p *countersign.Precondition, read *countersign.Capability, o request.Outcome) Found {
	f := Found{NotSent: o.Certainty == request.NotSent}
	if o.Response != nil {
		f.StatusCode = o.Response.StatusCode
	}
	if f.Problem = failed(o); f.Problem != "" {
		return f
	}
	out, ok := plan.Select(o.Body, read.OutputField)
	if !ok {
		f.Problem = "the answer has no field " + read.OutputField
		return f
	}
	values, size := map[string]countersign.Value{}, 0
	for _, name := range p.Fields {
		v, ok := out.Field(name)
		if !ok {
			f.Problem = "the output has no field " + name
			return f
		}
		if size += len(v.Raw()); size > countersign.MaxStateBytes {
			f.Problem = fmt.Sprintf("the fields have more than %d bytes in all", countersign.MaxStateBytes)
			return f
		}
		values[name] = v
	}
	f.Values = values
	if f.Holds, ok = Holds(m, p, values); !ok {
		f.Problem = "nobody can say whether what must be so holds"
	}
	return f
}

// Holds judges what must be so over values; known is false where nobody can say.
func Holds(m *cost.Meter, p *countersign.Precondition, values map[string]countersign.Value) (holds, known bool) {
	if p.When == nil {
		return true, true
	}
	holds, known = gate.HoldsOver(m, p.When, values)
	if m.Over() {
		return false, false
	}
	return holds, known
}

// failed says why a read has no answer that could be judged, "" if it has one.
func failed(o request.Outcome) string {
	switch {
	case o.Certainty == request.NotSent:
		return "the read was not sent: " + countersign.WithoutQuote(o.Cause)
	case o.Response != nil && (o.Response.StatusCode < 200 || o.Response.StatusCode > 299):
		return "the read was answered " + strconv.Itoa(o.Response.StatusCode)
	case o.Certainty != request.Returned || o.Response == nil:
		if o.Cause == "" {
			return "no usable answer came"
		}
		return countersign.WithoutQuote(o.Cause)
	}
	return ""
}
