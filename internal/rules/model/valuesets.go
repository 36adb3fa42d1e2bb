package model

import (
	"encoding/binary"
	"slices"
)

// valueSets are the sets of values of one input variable that an exploration
// distinguishes: initially all values, then the subsets that tests split off. Each set
// is stored once and identified by its number. Values that no test distinguishes are
// one member (Machine.domain), so the sets are finite and splitting is exact.
type valueSets struct {
	sets    [][]int32 // ranks in ascending order, unknown first
	numbers map[string]int32
	splits  map[[2]int32][2]int32 // by set and test
}

const (
	allValues int32 = 0  // the set before any test
	noValues  int32 = -1 // the empty set
)

func newValueSets(domain []int32) *valueSets {
	k := &valueSets{numbers: map[string]int32{}, splits: map[[2]int32][2]int32{}}
	k.intern(domain)
	return k
}

func (s *valueSets) intern(set []int32) int32 {
	if len(set) == 0 {
		return noValues
	}
	key := keyOf(nil, set)
	n, found := s.numbers[string(key)]
	if !found {
		n = int32(len(s.sets))
		s.numbers[string(key)] = n
		s.sets = append(s.sets, set)
	}
	return n
}

// split returns the subsets for which a test holds and fails, and subtracts the cost
// from budget.
func (s *valueSets) split(set, at int32, t *test, budget *int) (yes, no int32) {
	if members := s.sets[set]; len(members) == 1 {
		if t.in&relationOf(members[0], t.rank) != 0 {
			return set, noValues
		}
		return noValues, set
	}
	key := [2]int32{set, at}
	if h, found := s.splits[key]; found {
		return h[0], h[1]
	}
	var in, out []int32
	for _, rank := range s.sets[set] {
		if t.in&relationOf(rank, t.rank) != 0 {
			in = append(in, rank)
		} else {
			out = append(out, rank)
		}
	}
	*budget -= 20 + len(s.sets[set])
	yes, no = s.intern(in), s.intern(out)
	s.splits[key] = [2]int32{yes, no}
	return yes, no
}

func (s *valueSets) has(set, rank int32) bool {
	_, found := slices.BinarySearch(s.sets[set], rank)
	return found
}

// keyOf appends numbers to a map key.
func keyOf(key []byte, numbers []int32) []byte {
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	return key
}
