package demo

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func TestDecisionIsTypedWithItsReason(t *testing.T) {
	for line, want := range map[string]countersign.Decision{
		"y it is back":        {Decision: countersign.ApprovalApproved, Reason: "it is back"},
		"  YES  it is back  ": {Decision: countersign.ApprovalApproved, Reason: "it is back"},
		"n it isn't, yes? y":  {Decision: countersign.ApprovalRejected, Reason: "it isn't, yes? y"},
		"no never":            {Decision: countersign.ApprovalRejected, Reason: "never"},
		"":                    {}, " ": {}, "y": {}, "n ": {}, "yesterday it came": {}, "approve": {},
	} {
		got, hint := decisionOf(line)
		if asked := want.Reason == ""; asked != (hint != "") || !asked && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %q", line, got, hint)
		}
	}
}

func TestPrinterColoursWhereItMay(t *testing.T) {
	var plain, coloured bytes.Buffer
	(&printer{w: &plain}).step("refund", countersign.StepCompleted, "done")
	(&printer{w: &coloured, colour: true}).step("refund", countersign.StepCompleted, "done")
	if plain.String() != "   refund        COMPLETED  done\n" {
		t.Errorf("got %q", plain.String())
	}
	if coloured.String() != "   refund        \x1b[32mCOMPLETED\x1b[0m  done\n" {
		t.Errorf("got %q", coloured.String())
	}
}

func TestPrinterBreaksWideJSON(t *testing.T) {
	var out bytes.Buffer
	p := &printer{w: &out}
	p.block(countersign.RawValue(`{"a":"` + strings.Repeat("x", 60) + `","b":"` + strings.Repeat("y", 60) + `"}`))
	p.block(countersign.RawValue(`"` + strings.Repeat("z", 90) + `"`))
	indent := strings.Repeat(" ", 17)
	want := indent + `{"a":"` + strings.Repeat("x", 60) + "\",\n" + indent + `"b":"` + strings.Repeat("y", 60) + "\"}\n" + indent + `"` + strings.Repeat("z", 90) + "\"\n"
	if out.String() != want {
		t.Errorf("got\n%s", &out)
	}
}
