package model

import (
	"encoding/binary"
	"slices"
)

// kinds are the sets of values that an exploration tells apart, for one input
// variable: at first all of them, then what tests leave of a set. A set is kept
// once and known by its number; values that no test tells apart are one member
// (Machine.domain), so sets are finite and the split is exact.
type kinds struct {
	sets   [][]int32 // ranks in ascending order, unknown first
	known  map[string]int32
	halves map[[2]int32][2]int32 // by set and test
}

const (
	allKinds int32 = 0  // the set before any test
	noKinds  int32 = -1 // the empty set
)

func newKinds(domain []int32) *kinds {
	k := &kinds{known: map[string]int32{}, halves: map[[2]int32][2]int32{}}
	k.number(domain)
	return k
}

func (k *kinds) number(set []int32) int32 {
	if len(set) == 0 {
		return noKinds
	}
	key := keyOf(nil, set)
	n, found := k.known[string(key)]
	if !found {
		n = int32(len(k.sets))
		k.known[string(key)] = n
		k.sets = append(k.sets, set)
	}
	return n
}

// split is the part of a set in which a test holds and the part in which it
// doesn't. It takes what it costs from budget.
func (k *kinds) split(set, at int32, t *test, budget *int) (yes, no int32) {
	if members := k.sets[set]; len(members) == 1 {
		if t.in&relationOf(members[0], t.rank) != 0 {
			return set, noKinds
		}
		return noKinds, set
	}
	key := [2]int32{set, at}
	if h, found := k.halves[key]; found {
		return h[0], h[1]
	}
	var in, out []int32
	for _, rank := range k.sets[set] {
		if t.in&relationOf(rank, t.rank) != 0 {
			in = append(in, rank)
		} else {
			out = append(out, rank)
		}
	}
	*budget -= 20 + len(k.sets[set])
	yes, no = k.number(in), k.number(out)
	k.halves[key] = [2]int32{yes, no}
	return yes, no
}

func (k *kinds) has(set, rank int32) bool {
	_, found := slices.BinarySearch(k.sets[set], rank)
	return found
}

// keyOf appends numbers to a key of a map.
func keyOf(key []byte, numbers []int32) []byte {
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	return key
}
