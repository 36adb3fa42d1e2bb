package model

import "github.com/countersign/countersign"

// Samples gives, for constants that a variable is compared with, one value of each set of
// values that no comparison distinguishes: each constant, and what lies below, between and
// above; of texts one that is none of them, of booleans both. Constants of different types
// are treated each by itself.
func Samples(constants []countersign.Scalar) (out []countersign.Scalar) {
	for _, t := range []string{countersign.TypeNumber, countersign.TypeText, countersign.TypeBoolean} {
		table := newConstantTable(&countersign.Variable{Type: t})
		found := false
		for _, c := range constants {
			if c.Kind() == kindOf(t) {
				table.add(c)
				found = true
			}
		}
		if !found {
			continue
		}
		table.sortUnique()
		for rank := range int32(2*len(table.sorted) + 1) {
			if rank%2 == 1 || !table.closed && (table.numbers || rank == 0) {
				out = append(out, table.valueAt(rank))
			}
		}
	}
	return out
}
