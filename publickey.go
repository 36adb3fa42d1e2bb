package countersign

import (
	"errors"
	"math/big"
	"slices"
)

// CheckEd25519 returns nil for a public key that its holder alone can sign for: 32 bytes, a point
// of the curve in the one form that it has, and none of the eight points of small order, for
// which one signature is good for any text.
func CheckEd25519(key []byte) error {
	if len(key) != 32 {
		return errors.New("an Ed25519 key has 32 bytes")
	}
	text := slices.Clone(key)
	text[31] &= 0x7f // the sign of x
	slices.Reverse(text)
	y := new(big.Int).SetBytes(text)
	switch {
	case y.Cmp(edwardsPrime) >= 0:
		return errors.New("an Ed25519 key is not in the one form that it has")
	case slices.ContainsFunc(smallOrder, func(of *big.Int) bool { return y.Cmp(of) == 0 }):
		return errors.New("anybody can sign for this Ed25519 key: its order is small")
	case !onEdwards(y):
		return errors.New("an Ed25519 key is no point of the curve")
	}
	return nil
}

var (
	edwardsPrime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	edwardsD     = number16("52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3")

	// smallOrder are the y of the eight points of small order: of each but the first two there are
	// two, which differ in the sign of x.
	smallOrder = []*big.Int{
		big.NewInt(1), new(big.Int).Sub(edwardsPrime, big.NewInt(1)), big.NewInt(0),
		number16("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7"),
		number16("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826"),
	}
)

func number16(digits string) *big.Int {
	n, _ := new(big.Int).SetString(digits, 16)
	return n
}

// onEdwards reports that x² = (y² - 1) / (dy² + 1) has a root.
func onEdwards(y *big.Int) bool {
	square := new(big.Int).Mul(y, y)
	over := new(big.Int).Sub(square, big.NewInt(1))
	under := new(big.Int).Add(new(big.Int).Mul(edwardsD, square), big.NewInt(1))
	under.ModInverse(under.Mod(under, edwardsPrime), edwardsPrime)
	x2 := over.Mul(over, under)
	return new(big.Int).ModSqrt(x2.Mod(x2, edwardsPrime), edwardsPrime) != nil
}
