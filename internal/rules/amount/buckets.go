package amount

import (
	"math/big"

	"github.com/countersign/countersign"
)

// maxBuckets is how many equal parts numbers are put into at most.
const maxBuckets = 60

// Buckets are equal parts of the numbers from the least to the largest of some.
type Buckets struct {
	width *big.Rat
	first *big.Int // the number of the part that has the least
	Count int
}

// BucketsOf divides numbers into parts of 1, 2 or 5 times a power of ten. Those too large or too
// fine to be divided are left out. false: there are none.
func BucketsOf(all []countersign.Number) (b Buckets, ok bool) {
	var low, high *big.Rat
	for _, n := range all {
		r, small := n.Rat(mostDigits)
		if !small {
			continue
		}
		if low == nil || r.Cmp(low) < 0 {
			low = r
		}
		if high == nil || r.Cmp(high) > 0 {
			high = r
		}
	}
	if low == nil {
		return b, false
	}
	least := new(big.Rat).Sub(high, low)
	least.Quo(least, big.NewRat(maxBuckets-1, 1))
	b.width = power(least)
	for _, times := range []int64{1, 2, 5, 10} {
		width := new(big.Rat).Mul(b.width, big.NewRat(times, 1))
		if width.Cmp(least) >= 0 {
			b.width = width
			break
		}
	}
	b.first = floor(low, b.width)
	b.Count = int(new(big.Int).Sub(floor(high, b.width), b.first).Int64()) + 1
	return b, true
}

// power is the largest power of ten that is no larger than a number, 1 for 0.
func power(r *big.Rat) *big.Rat {
	p, ten := big.NewRat(1, 1), big.NewRat(10, 1)
	if r.Sign() == 0 {
		return p
	}
	for p.Cmp(r) > 0 {
		p = new(big.Rat).Quo(p, ten)
	}
	for next := new(big.Rat).Mul(p, ten); next.Cmp(r) <= 0; next = new(big.Rat).Mul(p, ten) {
		p = next
	}
	return p
}

func floor(r, width *big.Rat) *big.Int {
	q := new(big.Rat).Quo(r, width)
	return new(big.Int).Div(q.Num(), q.Denom()) // the denominator is positive: it rounds down
}

// Of is the part that a number is in, -1 for none.
func (b Buckets) Of(n countersign.Number) int {
	r, small := n.Rat(mostDigits)
	if !small {
		return -1
	}
	return int(new(big.Int).Sub(floor(r, b.width), b.first).Int64())
}

// From is where a part begins, exact; the one before ends there.
func (b Buckets) From(i int) countersign.Value {
	n := new(big.Rat).SetInt(new(big.Int).Add(b.first, big.NewInt(int64(i))))
	n.Mul(n, b.width)
	places, _ := n.FloatPrec()
	return countersign.RawValue(n.FloatString(places))
}
