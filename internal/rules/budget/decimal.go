package budget

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

// Decimal is an exact number that amounts are added up in. Nearly all amounts and their sums
// have a few digits, and are added as integers; any other one is a fraction. The zero value
// is 0.
type Decimal struct {
	units    int64 // in 10^-places
	places   int   // 0 to 18
	fraction *big.Rat
}

func decimalOf(n countersign.Number) (d Decimal, ok bool) {
	if d.units, d.places, ok = n.Small(); ok {
		return d, true
	}
	d.fraction, ok = n.Rat(maxDigits)
	return d, ok
}

// ParseDecimal reads what Text gives, and the fractions that earlier releases wrote; 0 for
// any other text.
func ParseDecimal(text string) Decimal {
	if !strings.ContainsAny(text, "/eE") && text != "" {
		if units, places, ok := countersign.ParseNumber(text).Small(); ok {
			return Decimal{units: units, places: places}
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Decimal{}
	}
	return ofFraction(r)
}

// ofFraction is a fraction, as an integer of some places if it is one.
func ofFraction(r *big.Rat) Decimal {
	if places, exact := r.FloatPrec(); exact && places <= countersign.MaxSmallDigits {
		if units, small, ok := countersign.ParseNumber(r.FloatString(places)).Small(); ok {
			return Decimal{units: units, places: small}
		}
	}
	return Decimal{fraction: r}
}

// Text is a JSON number, or a fraction where that is no short one.
func (d Decimal) Text() string {
	if d.fraction != nil {
		return d.fraction.RatString()
	}
	if d.places == 0 {
		return strconv.FormatInt(d.units, 10)
	}
	sign, units := "", uint64(d.units)
	if d.units < 0 {
		sign, units = "-", -units
	}
	digits := strconv.FormatUint(units, 10)
	if missing := d.places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-d.places] + "." + digits[len(digits)-d.places:]
}

// Rat is the number as a fraction. It must not be changed.
func (d Decimal) Rat() *big.Rat {
	if d.fraction != nil {
		return d.fraction
	}
	return new(big.Rat).SetFrac64(d.units, powers[d.places])
}

// Add is the sum of two numbers.
func (d Decimal) Add(e Decimal) Decimal {
	if a, b, places, ok := aligned(d, e); ok {
		if sum := a + b; (sum > a) == (b > 0) { // no overflow
			return Decimal{units: sum, places: places}
		}
	}
	return ofFraction(new(big.Rat).Add(d.Rat(), e.Rat()))
}

// Sub is the difference of two numbers.
func (d Decimal) Sub(e Decimal) Decimal {
	if e.fraction != nil || e.units == math.MinInt64 {
		return ofFraction(new(big.Rat).Sub(d.Rat(), e.Rat()))
	}
	e.units = -e.units
	return d.Add(e)
}

// Cmp is -1, 0 or 1 by value.
func (d Decimal) Cmp(e Decimal) int {
	a, b, _, ok := aligned(d, e)
	switch {
	case !ok:
		return d.Rat().Cmp(e.Rat())
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int { return d.Cmp(Decimal{}) }

// aligned gives two numbers in the same places, false if one of them has no room.
func aligned(d, e Decimal) (a, b int64, places int, ok bool) {
	if d.fraction != nil || e.fraction != nil {
		return 0, 0, 0, false
	}
	places = max(d.places, e.places)
	a, fits := raised(d.units, powers[places-d.places])
	b, also := raised(e.units, powers[places-e.places])
	return a, b, places, fits && also
}

func raised(n, by int64) (int64, bool) {
	if most := math.MaxInt64 / by; n > most || n < -most {
		return 0, false
	}
	return n * by, true
}

// powers are those of ten that an int64 has room for.
var powers = func() (p [countersign.MaxSmallDigits + 1]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// Number is the number as JSON. Sums of decimals have an end.
func (d Decimal) Number() string {
	if d.fraction == nil {
		return d.Text()
	}
	places, _ := d.fraction.FloatPrec()
	return d.fraction.FloatString(places)
}
