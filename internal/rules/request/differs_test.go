package request

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestDiffersSaysWhereAnOutputContradictsWhatWasSent.
func TestDiffersSaysWhereAnOutputContradictsWhatWasSent(t *testing.T) {
	sent := inputsOf(t, `{"amount":53.5,"currency":"EUR","lines":[1,2],"note":"x"}`)
	for output, want := range map[string]string{
		`{"amount":249,"currency":"EUR"}`:                 `[{"field":"amount","sent":53.5,"found":249}]`,
		`{"amount":53.50,"lines":[1,2.0],"state":"done"}`: `null`,
		`{"refund":{"amount":"53.5"},"amount":5.35e1}`:    `[{"field":"refund.amount","sent":53.5,"found":"53.5"}]`,
		`{"lines":[2,1],"currency":null}`:                 `[{"field":"currency","sent":"EUR","found":null},{"field":"lines","sent":[1,2],"found":[2,1]}]`,
		`"53.5"`:                                          `null`, `{}`: `null`,
	} {
		got := Differs(sent, countersign.RawValue(output), "refund")
		if text, err := countersign.Marshal(got); err != nil || string(text) != want && (got != nil || want != "null") {
			t.Errorf("%s: %s, %v, want %s", output, text, err, want)
		}
	}
}

func TestDiffersLooksWhereADottedOutputFieldLeads(t *testing.T) {
	sent := inputsOf(t, `{"amount":5}`)
	for output, want := range map[string]int{`{"data":{"payment":{"amount":9}}}`: 1, `{"data.payment":{"amount":9}}`: 1, `{"data":{"payment":{"amount":5.0}}}`: 0, `{"data":[]}`: 0} {
		if got := Differs(sent, countersign.RawValue(output), "data.payment"); len(got) != want || want == 1 && got[0].Field != "data.payment.amount" {
			t.Errorf("%s: %+v", output, got)
		}
	}
}
