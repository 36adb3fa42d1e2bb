package pack

import (
	"errors"
	"iter"
	"math/bits"

	"github.com/countersign/countersign/internal/storage/store"
)

// Set is places in a pack.
type Set [Most / 64]uint64

// First are the first n places.
func First(n int) (s Set) {
	for i := range s {
		s[i] = 1<<min(max(n-64*i, 0), 64) - 1
	}
	return s
}

func (s *Set) add(i int) { s[i/64] |= 1 << (i % 64) }

// Len is how many places it has.
func (s Set) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// Or are the places that are in either.
func (s Set) Or(other Set) Set {
	for i := range s {
		s[i] |= other[i]
	}
	return s
}

// And are the places that are in both.
func (s Set) And(other Set) Set {
	for i := range s {
		s[i] &= other[i]
	}
	return s
}

// Without are the places that are not in the other.
func (s Set) Without(other Set) Set {
	for i := range s {
		s[i] &^= other[i]
	}
	return s
}

// In gives the places, in order or, descending, the last one first.
func (s Set) In(descending bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range Most {
			if descending {
				i = Most - 1 - i
			}
			if s[i/64]&(1<<(i%64)) != 0 && !yield(i) {
				return
			}
		}
	}
}

// Places is a set as it is stored: a byte for each place, in order. So their number is the
// length.
func (s Set) Places() []byte {
	places := make([]byte, 0, s.Len())
	for i := range s.In(false) {
		places = append(places, byte(i))
	}
	return places
}

// ParsePlaces reads a stored set.
func ParsePlaces(places []byte) (s Set, err error) {
	for i, place := range places {
		if place >= Most || i > 0 && place <= places[i-1] {
			return s, errPlaces
		}
		s.add(int(place))
	}
	if len(places) == 0 {
		return s, errPlaces
	}
	return s, nil
}

var errPlaces = errors.New("its postings are not places in a pack")

// Posting says at which places of a pack a column has a value.
type Posting struct {
	Column int // of Texts
	Value  string
	Places Set
}

// Postings are those of rows that follow each other in a pack.
func Postings(rows []store.Row) (all []Posting) {
	for column := range Texts {
		known := map[string]int{}
		for i, row := range rows {
			value := row.Keys[textKey+column].(string)
			n, ok := known[value]
			if !ok {
				n = len(all)
				known[value] = n
				all = append(all, Posting{Column: column, Value: value})
			}
			all[n].Places.add(i)
		}
	}
	return all
}

// Postings are those of the pack.
func (p *Pack) Postings() (all []Posting) {
	for column, c := range p.texts {
		from := len(all)
		for _, value := range c.values {
			all = append(all, Posting{Column: column, Value: value})
		}
		for i, which := range []byte(c.which) {
			all[from+int(which)].Places.add(i)
		}
	}
	return all
}

// Has reports whether the record at a place has one of these values in a column of Texts.
func (p *Pack) Has(i, column int, values []string) bool {
	c := &p.texts[column]
	for _, value := range values {
		if c.values[c.which[i]] == value {
			return true
		}
	}
	return false
}
