// Package folded says which names a receiver may take for one: those that are equal after
// Unicode simple case folding, as encoding/json and many others compare the names of
// members. It is pure.
package folded

import "unicode"

// Name is the one spelling of all names that are equal after simple case folding: two names
// fold to the same if and only if strings.EqualFold says so. The verifiers of receipts in
// TypeScript and Python have the same table.
func Name(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return folding(name)
		}
	}
	return name
}

func folding(name string) string {
	out := make([]rune, 0, len(name))
	for _, r := range name {
		out = append(out, Rune(r))
	}
	return string(out)
}

// Rune is the one letter for all that fold to each other: the least of them, and of those
// with a letter of ASCII that letter in lower case.
func Rune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
