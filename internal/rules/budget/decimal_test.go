package budget_test

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/rules/budget"
)

// TestDecimalsAreExact against fractions: numbers with few digits and with many, whose sums
// and differences come back from their texts.
func TestDecimalsAreExact(t *testing.T) {
	texts := rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,22})?`),
		rapid.StringMatching(`-?[1-9]e-?[1-3]?[0-9]`),
		rapid.StringMatching(`-?[1-9][0-9]{0,19}/[1-9][0-9]{0,3}`), // as earlier releases wrote sums
		rapid.SampledFrom([]string{"0", "0.1", "9223372036854775807", "-9223372036854775808", "999999999999999999", "0.000000000000000001", "1e18", "1e17"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		sum, want := budget.Decimal{}, new(big.Rat)
		for range rapid.IntRange(1, 12).Draw(t, "numbers") {
			text := texts.Draw(t, "text")
			d, r := budget.ParseDecimal(text), fraction(text)
			if d.Rat().Cmp(r) != 0 {
				t.Fatalf("%s is read as %s", text, d.Text())
			}
			if d.Cmp(sum) != r.Cmp(want) || sum.Cmp(d) != want.Cmp(r) || d.Sign() != r.Sign() {
				t.Fatalf("%s to %s: %d", text, want, d.Cmp(sum))
			}
			if rapid.Bool().Draw(t, "adds") {
				sum, want = sum.Add(d), want.Add(want, r)
			} else {
				sum, want = sum.Sub(d), want.Sub(want, r)
			}
			if sum.Rat().Cmp(want) != 0 {
				t.Fatalf("with %s it comes to %s, want %s", text, sum.Text(), want)
			}
			sum = budget.ParseDecimal(sum.Text())
		}
		// Every text of a sum can be read by the release before, too.
		if fraction(sum.Text()).Cmp(want) != 0 {
			t.Fatalf("%s is written as %s", want, sum.Text())
		}
	})
}

func fraction(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("%q is no fraction", text))
	}
	return r
}

// TestSumsGoOnBeyondWhatAnIntegerHolds, up and down again.
func TestSumsGoOnBeyondWhatAnIntegerHolds(t *testing.T) {
	large, sum := budget.ParseDecimal("999999999999999999"), budget.Decimal{}
	for range 20 {
		sum = sum.Add(large)
	}
	if sum.Text() != "19999999999999999980" {
		t.Errorf("20 times 999999999999999999 is %s", sum.Text())
	}
	for range 40 {
		sum = sum.Sub(large)
	}
	if sum.Text() != "-19999999999999999980" {
		t.Errorf("with 40 less it is %s", sum.Text())
	}
}
