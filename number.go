package countersign

import (
	"math/big"
	"strconv"
	"strings"
)

// Number is an exact decimal: 0.Digits × 10^Exp, Digits without leading or
// trailing zeros. Zero has no digits. Nothing is ever expanded, so a number of
// a few bytes can't cost megabytes.
type Number struct {
	negative bool
	digits   string
	exp      int64
}

// MaxExponentDigits bounds the exponent of a number that is accepted from
// outside; internal/rules/exactjson refuses longer ones.
const MaxExponentDigits = 9

// ParseNumber reads a valid JSON number.
func ParseNumber(text string) Number {
	var n Number
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], strings.TrimPrefix(text[i+1:], "+")
	}
	if strings.HasPrefix(mantissa, "-") {
		n.negative, mantissa = true, mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if exponent != "" {
		n.exp, _ = strconv.ParseInt(exponent, 10, 64)
	}
	n.exp += int64(len(whole))
	n.digits = whole + fraction
	trimmed := strings.TrimLeft(n.digits, "0")
	n.exp -= int64(len(n.digits) - len(trimmed))
	n.digits = strings.TrimRight(trimmed, "0")
	if n.digits == "" {
		return Number{} // 0, -0, 0e9 are one number
	}
	return n
}

// Compare is -1, 0 or 1 by exact value.
func (n Number) Compare(m Number) int {
	if s, t := n.sign(), m.sign(); s != t {
		if s < t {
			return -1
		}
		return 1
	}
	c := n.compareMagnitude(m)
	if n.negative {
		return -c
	}
	return c
}

// IsInteger reports a number without fractional part (1.0 is one).
func (n Number) IsInteger() bool { return int64(len(n.digits)) <= n.exp || n.digits == "" }

// Rat is the number for calculations, false if it has more digits than most, or digits
// further than that from the decimal point.
func (n Number) Rat(most int) (*big.Rat, bool) {
	if len(n.digits) > most || n.exp > int64(most) || n.exp < -int64(most) {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

// MaxSmallDigits is how many digits an int64 always has room for.
const MaxSmallDigits = 18

// Small is the number as an integer of 10^-places, places from 0 to MaxSmallDigits; false if
// it has more digits than that before or behind the point, or more in all.
func (n Number) Small() (units int64, places int, ok bool) {
	power := n.exp - int64(len(n.digits))
	if len(n.digits) > MaxSmallDigits || n.exp > MaxSmallDigits || power < -MaxSmallDigits {
		return 0, 0, false
	}
	if n.digits == "" {
		return 0, 0, true
	}
	units, err := strconv.ParseInt(n.digits, 10, 64)
	for ; power > 0; power-- {
		units *= 10
	}
	if n.negative {
		units = -units
	}
	return units, int(-power), err == nil
}

func (n Number) sign() int {
	switch {
	case n.digits == "":
		return 0
	case n.negative:
		return -1
	default:
		return 1
	}
}

func (n Number) compareMagnitude(m Number) int {
	switch {
	case n.exp < m.exp:
		return -1
	case n.exp > m.exp:
		return 1
	default:
		return strings.Compare(n.digits, m.digits)
	}
}

// maxPlainZeros is how many zeros String appends before it turns to an exponent.
const maxPlainZeros = 20

// String is the one spelling of this value, valid JSON: a plain integer where
// that is short, else digits and a power of ten.
func (n Number) String() string {
	if n.digits == "" {
		return "0"
	}
	sign := ""
	if n.negative {
		sign = "-"
	}
	power := n.exp - int64(len(n.digits))
	switch {
	case power == 0:
		return sign + n.digits
	case power > 0 && power <= maxPlainZeros:
		return sign + n.digits + strings.Repeat("0", int(power))
	default:
		return sign + n.digits + "e" + strconv.FormatInt(power, 10)
	}
}
