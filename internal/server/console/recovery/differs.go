package recovery

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
)

// What a resolution states may contradict what was sent. The page says so above its button,
// and records it only once that was ticked: the API takes it as it is.

// contradiction is what the output of the form says besides what was sent.
type contradiction struct {
	Fields   []countersign.Discrepancy
	Compared int    // fields that both have
	Token    string // says which differences were ticked
	Ticked   bool
}

// contradictionOf compares the output that stands in the form.
func (d *Data) contradictionOf(output countersign.Value) contradiction {
	c := contradiction{Fields: request.Differs(d.Step.Input, output, d.Resolve.OutputField)}
	members, _ := output.Object()
	selected, _ := members[d.Resolve.OutputField].Object()
	for name := range d.Step.Input {
		for _, in := range []map[string]countersign.Value{members, selected} {
			if _, both := in[name]; both {
				c.Compared++
			}
		}
	}
	var all strings.Builder
	for _, f := range c.Fields {
		all.WriteString(strconv.Quote(f.Field) + f.Sent.Raw() + "\n" + f.Found.Raw() + "\n")
	}
	c.Token = access.HashToken("differs\n" + d.Run.ID + "\n" + d.Step.ID + "\n" + all.String())
	return c
}

// Words say what differs: "1 of 3 differs from what was sent: amount 249, sent 53.5".
func (c contradiction) Words() string {
	fields := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		fields[i] = safetext.Escaped(f.Field) + " " + drawn.Clip(text.Inline(f.Found)) + ", sent " + drawn.Clip(text.Inline(f.Sent))
	}
	verb := "differ"
	if len(c.Fields) == 1 {
		verb = "differs"
	}
	return strconv.Itoa(len(c.Fields)) + " of " + strconv.Itoa(c.Compared) + " " + verb + " from what was sent: " + strings.Join(fields, "; ")
}

// Names are the fields that differ.
func (c contradiction) Names() string {
	names := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		names[i] = f.Field
	}
	return strings.Join(names, " and ")
}
