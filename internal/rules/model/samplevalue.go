package model

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

// valueAt returns a value of a rank: the constant itself, a number between two
// constants, or a text that no condition names. It is the inverse of rank.
func (t *constantTable) valueAt(rank int32) countersign.Scalar {
	switch {
	case rank == unknown:
		return countersign.Scalar{Value: countersign.Null}
	case t.numbers:
		return countersign.Scalar{Value: countersign.RawValue(t.number(rank))}
	case rank%2 == 0:
		return countersign.Scalar{Value: countersign.String(t.unusedText())}
	case t.boolean:
		return countersign.Scalar{Value: countersign.RawValue(t.sorted[rank/2].text)}
	default:
		return countersign.Scalar{Value: countersign.String(t.sorted[rank/2].text)}
	}
}

// unusedText is a text that no condition names.
func (t *constantTable) unusedText() string {
	named := make(map[string]bool, len(t.sorted))
	for _, m := range t.sorted {
		named[m.text] = true
	}
	word := "another"
	for n := 2; named[word]; n++ {
		word = "another " + strconv.Itoa(n)
	}
	return word
}

func (t *constantTable) number(rank int32) string {
	i := int(rank / 2)
	switch {
	case rank%2 == 1:
		return t.sorted[i].number.String()
	case len(t.sorted) == 0:
		return "0"
	case i == 0:
		return decimalOf(t.sorted[0].number).less()
	case i == len(t.sorted):
		return decimalOf(t.sorted[i-1].number).more()
	default:
		return between(decimalOf(t.sorted[i-1].number), decimalOf(t.sorted[i].number))
	}
}

// decimal is n × 10^exp. Exponents may be huge, so a number is never expanded beyond
// the digits in the document.
type decimal struct {
	n   *big.Int
	exp int64
}

func decimalOf(n countersign.Number) decimal {
	digits, power, _ := strings.Cut(n.String(), "e")
	d := decimal{n: new(big.Int)}
	d.n.SetString(digits, 10)
	d.exp, _ = strconv.ParseInt(power, 10, 64)
	return d
}

// maxPlain bounds the digits that are written without an exponent, for readability.
const maxPlain = 20

// more is a number above d: the next integer if that is short.
func (d decimal) more() string {
	if d.exp > -maxPlain && d.exp <= 0 {
		return new(big.Int).Add(d.floor(), big.NewInt(1)).String()
	}
	return decimal{new(big.Int).Add(d.n, big.NewInt(1)), d.exp}.String()
}

func (d decimal) less() string {
	if d.exp > -maxPlain && d.exp < 0 {
		return d.floor().String()
	}
	return decimal{new(big.Int).Sub(d.n, big.NewInt(1)), d.exp}.String()
}

func (d decimal) floor() *big.Int {
	return new(big.Int).Div(d.n, power(-d.exp)) // Euclidean: towards less, for a divisor above 0
}

// between is a number above a and below b, with as few digits as possible if they are
// close.
func between(a, b decimal) string {
	switch {
	case a.n.Sign() < 0 && b.n.Sign() > 0:
		return "0"
	case b.n.Sign() <= 0:
		s := between(decimal{new(big.Int).Neg(b.n), b.exp}, decimal{new(big.Int).Neg(a.n), a.exp})
		return "-" + s
	case a.n.Sign() == 0 && (b.exp < -maxPlain || b.exp > maxPlain), a.n.Sign() > 0 && b.magnitude()-a.magnitude() > maxPlain:
		return "0.05e" + strconv.FormatInt(b.magnitude(), 10) // above 10^(magnitude-2) and below 10^(magnitude-1)
	default:
		return rounded(a, b)
	}
}

// magnitude m says that 10^(m-1) <= |d| < 10^m.
func (d decimal) magnitude() int64 {
	return int64(len(new(big.Int).Abs(d.n).String())) + d.exp
}

// rounded brings both to one power of ten, a digit finer than they have, and
// takes the first multiple of the largest step that lies between.
func rounded(a, b decimal) string {
	exp := min(a.exp, b.exp) - 1
	low := new(big.Int).Mul(a.n, power(a.exp-exp))
	high := new(big.Int).Mul(b.n, power(b.exp-exp))
	for digits := len(new(big.Int).Sub(high, low).String()) - 1; ; digits-- {
		step := power(int64(digits))
		n := new(big.Int).Div(low, step)
		n.Mul(n.Add(n, big.NewInt(1)), step)
		if n.Cmp(high) < 0 {
			return decimal{n, exp}.String()
		}
	}
}

func power(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// String uses plain notation where that is short.
func (d decimal) String() string {
	digits := new(big.Int).Abs(d.n).String()
	sign := strings.Repeat("-", len(d.n.String())-len(digits))
	for d.exp < 0 && len(digits) > 1 && strings.HasSuffix(digits, "0") {
		digits, d.exp = digits[:len(digits)-1], d.exp+1
	}
	switch {
	case d.exp == 0 || digits == "0":
		return sign + digits
	case d.exp > 0 && d.exp <= maxPlain:
		return sign + digits + strings.Repeat("0", int(d.exp))
	case d.exp < 0 && d.exp >= -maxPlain:
		digits = strings.Repeat("0", max(0, int(-d.exp)+1-len(digits))) + digits
		point := len(digits) + int(d.exp)
		return sign + digits[:point] + "." + digits[point:]
	default:
		return sign + digits + "e" + strconv.FormatInt(d.exp, 10)
	}
}
