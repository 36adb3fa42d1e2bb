package verdict_test

import (
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/verdict"
)

func TestDenyGoesOverAskAndAskOverAllowInWhateverOrder(t *testing.T) {
	allow, ask, deny := verdict.Verdict{Then: verdict.Allow}, verdict.Verdict{Then: verdict.Ask, Reasons: []string{"ask"}}, verdict.Verdict{Then: verdict.Deny, Code: countersign.CodeDeniedByBudget, Reasons: []string{"deny"}}
	for _, c := range []struct {
		all  []verdict.Verdict
		want string
	}{
		{nil, verdict.Allow}, {[]verdict.Verdict{allow}, verdict.Allow}, {[]verdict.Verdict{allow, ask}, verdict.Ask}, {[]verdict.Verdict{ask, deny}, verdict.Deny}, {[]verdict.Verdict{allow, deny, ask}, verdict.Deny},
	} {
		for range 2 {
			got := verdict.Severest(c.all...)
			if got.Then != c.want || c.want == verdict.Deny && got.Code != countersign.CodeDeniedByBudget {
				t.Errorf("%v come to %v", c.all, got)
			}
			slices.Reverse(c.all)
		}
	}
}

func TestAllReasonsOfTheSeverestCount(t *testing.T) {
	got := verdict.Severest(verdict.Verdict{Then: verdict.Ask, Reasons: []string{"a"}}, verdict.Verdict{Then: verdict.Allow, Reasons: []string{"no"}}, verdict.Verdict{Then: verdict.Ask, Reasons: []string{"b"}})
	if !slices.Equal(got.Reasons, []string{"a", "b"}) {
		t.Errorf("the reasons are %v", got.Reasons)
	}
}
