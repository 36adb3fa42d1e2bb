package rules

import (
	"testing"

	"github.com/countersign/countersign"
)

func TestAMeterSaysHowMuchIsUsedAndWhatOfItNobodyKnows(t *testing.T) {
	calls := countersign.Budget{Count: 50, Window: "1h", Then: countersign.BudgetDeny}
	sum := countersign.Budget{Sum: "amount", Most: countersign.RawValue("1e4"), Window: "24h", Then: countersign.BudgetAsk}
	got := MetersOf([]countersign.BudgetUse{
		{Capability: "pay", Budget: calls, Used: countersign.RawValue("40"), MayHaveHappened: countersign.RawValue("2")},
		{Budget: sum, Used: countersign.RawValue("99999999999999999999.50"), MayHaveHappened: countersign.RawValue("0")},
		{Budget: sum},
	})
	for i, want := range []Meter{
		{Of: "pay", Name: "Calls in 1h", Used: "40", Most: "50", Open: "2", Share: 80, Known: "76%", Unknown: "4%", Word: "at most 50 calls in 1h; above that, denied"},
		{Name: "amount in 24h", Used: "99999999999999999999.50", Most: "1e4", Share: 100, Known: "100%", Unknown: "0%", Word: "at most 1e4 of amount in 24h; above that, asks"},
		{Name: "amount in 24h", Most: "1e4", Known: "0%", Unknown: "0%", Word: "at most 1e4 of amount in 24h; above that, asks"},
	} {
		if got[i] != want {
			t.Errorf("%d: %+v", i, got[i])
		}
	}
	if !got[0].High() || got[2].High() {
		t.Error("a meter warns from 80 percent on")
	}
}
