package amount

import (
	"math/big"
	"slices"

	"github.com/countersign/countersign"
)

// mostDigits bounds what two numbers in the middle are added with.
const mostDigits = 400

// Median is the number in the middle, exact: of two, what lies halfway between them, or the
// lower one where they are too large or too fine to be added. all has one at least, and is
// sorted by it.
func Median(all []countersign.Number) countersign.Value {
	slices.SortFunc(all, countersign.Number.Compare)
	low, high := all[(len(all)-1)/2], all[len(all)/2]
	x, small := low.Rat(mostDigits)
	y, smallToo := high.Rat(mostDigits)
	if low.Compare(high) == 0 || !small || !smallToo {
		return countersign.RawValue(low.String())
	}
	half := new(big.Rat).Add(x, y)
	half.Quo(half, big.NewRat(2, 1))
	places, _ := half.FloatPrec() // a sum of decimals, halved, is one
	return countersign.RawValue(half.FloatString(places))
}
