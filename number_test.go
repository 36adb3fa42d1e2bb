package countersign_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

func TestNumberHasOneSpelling(t *testing.T) {
	for want, spellings := range map[string][]string{
		"1":                  {"1", "1.0", "1e0", "10e-1", "0.1e1", "1.000E+0", "0.0001e4"},
		"0":                  {"0", "-0", "0.0", "0e9", "-0.00e-999999999"},
		"-12":                {"-12", "-12.0", "-1.2e1", "-0.12E2", "-120e-1"},
		"15e-1":              {"1.5", "15e-1", "0.15e1", "1.50"},
		"100":                {"100", "1e2", "1E+2", "100.00"},
		"9007199254740993":   {"9007199254740993", "9007199254740993.0", "9.007199254740993e15"},
		"1e999999999":        {"1e999999999", "0.1e1000000000", "10e999999998"},
		"1e-999999999":       {"1e-999999999"},
		"1" + zeros(20):      {"1e20", "1" + zeros(20)},
		"1e21":               {"1e21", "1" + zeros(21), "0.01e23"},
		"12345678901234e-14": {"0.12345678901234"},
	} {
		for _, s := range spellings {
			if got := countersign.ParseNumber(s).String(); got != want {
				t.Errorf("%s: got %s, want %s", s, got, want)
			}
		}
	}
}

func zeros(n int) string { return strings.Repeat("0", n) }

func TestNumbersCompareByExactValue(t *testing.T) {
	ascending := []string{
		"-1e999999999", "-9007199254740993", "-9007199254740992", "-1.5", "-1", "-1e-999999999", "-0", "1e-999999999", "0.1", "0.10000000000000000001",
		"1", "1.0000000000000000000000001", "9", "10", "9007199254740992", "9007199254740993", "1e400", "1e999999998", "9.9e999999998", "1e999999999",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := min(max(i-j, -1), 1)
			if got := countersign.ParseNumber(a).Compare(countersign.ParseNumber(b)); got != want {
				t.Errorf("%s against %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestNumberIsAnIntegerByValue(t *testing.T) {
	for s, want := range map[string]bool{
		"0": true, "-0.0": true, "1.0": true, "10e-1": true, "1.5e1": true, "1e999999999": true, "1.5": false, "1e-1": false, "1e-999999999": false, "10.01e1": false,
	} {
		if got := countersign.ParseNumber(s).IsInteger(); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
}

func TestHugeExponentCostsNothing(t *testing.T) {
	huge := raw("[1e999999999,-1e999999999,1e-999999999]")
	if got := len(huge.Canonical()); got > 60 {
		t.Errorf("the canonical form has %d bytes", got)
	}
	a, b := countersign.ParseNumber("1e999999999"), countersign.ParseNumber("2e999999999")
	if n := testing.AllocsPerRun(100, func() { _ = a.Compare(b) }); n > 0 {
		t.Errorf("comparing allocates %v times", n)
	}
}

// TestNumberAgreesWithRationals compares with math/big, whose numbers are exact
// too but expand, on exponents that it can bear.
func TestNumberAgreesWithRationals(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) string {
		whole := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})`).Draw(t, "whole")
		fraction := rapid.StringMatching(`(\.[0-9]{1,20})?`).Draw(t, "fraction")
		return whole + fraction + rapid.StringMatching(`([eE][+-]?0?[0-9]{1,2})?`).Draw(t, "exponent")
	})
	rational := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(fmt.Sprintf("math/big does not read %s", s))
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		m, n := countersign.ParseNumber(a), countersign.ParseNumber(b)
		if got, want := m.Compare(n), rational(a).Cmp(rational(b)); got != want {
			t.Fatalf("%s against %s: got %d, want %d", a, b, got, want)
		}
		if got := rational(m.String()); got.Cmp(rational(a)) != 0 {
			t.Fatalf("%s is written as %s", a, m)
		}
		if (m.String() == n.String()) != (m.Compare(n) == 0) {
			t.Fatalf("%s and %s are written as %s and %s", a, b, m, n)
		}
		if m.IsInteger() != rational(a).IsInt() {
			t.Fatalf("%s: integer %v", a, m.IsInteger())
		}
		units, places, small := m.Small()
		scale := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
		if got := scale.Mul(scale, new(big.Rat).SetInt64(units)); small && (got.Cmp(rational(a)) != 0 || places < 0 || places > countersign.MaxSmallDigits) {
			t.Fatalf("%s is %d in %d places", a, units, places)
		}
		if short := len(a) <= countersign.MaxSmallDigits && !strings.ContainsAny(a, "eE"); short && !small {
			t.Fatalf("%s is not small", a)
		}
	})
}
