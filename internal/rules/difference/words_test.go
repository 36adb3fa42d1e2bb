package difference

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestADifferenceNamesTheCapabilityWhole: a capability's name may have dots.
func TestADifferenceNamesTheCapabilityWhole(t *testing.T) {
	of := func(approval string) countersign.Value {
		return countersign.RawValue(`{"capabilities":[{"name":"refunds.create","approval":"` + approval + `"},{"name":"note"}]}`)
	}
	found := Told(of("ALWAYS"), of("NONE"), []string{"capabilities.refunds.create.approval"})
	if len(found) != 1 || found[0].Path != "capabilities.refunds.create.approval" || !found[0].Weakens {
		t.Fatalf("it is %+v", found)
	}
	if got, want := found[0].Text, "refunds.create, whether a person is asked: nobody is asked. Today a person is asked each time."; got != want {
		t.Errorf("it says %q, expected %q", got, want)
	}
	if whole := Told(countersign.RawValue(`1`), countersign.RawValue(`2`), nil); len(whole) != 1 || whole[0].Text != "all of it: 2. Today 1." {
		t.Errorf("of a whole value it says %+v", whole)
	}
}
