package golden

import (
	"strings"
	"testing"
)

func TestADifferenceShowsTheLinesThatDiffer(t *testing.T) {
	common := strings.Repeat("the same\n", 2000)
	got := Difference(common+"one\n"+common, common+"two\n"+common)
	if !strings.Contains(got, `"one"`) || !strings.Contains(got, `"two"`) || len(got) > 1000 {
		t.Errorf("of 4,001 lines that differ in one: %s", got)
	}
	if got := Difference(common, common); got != "" {
		t.Errorf("of equal texts: %s", got)
	}
}
