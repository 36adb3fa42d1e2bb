package harness

import "strings"

// wordFinder finds any of many words in one pass over a text: a test searches everything that a server
// sends and stores for dozens of secrets, each in several encodings.
type wordFinder struct {
	byStart map[uint64][]spelling // by the first eight bytes
	marks   [1 << 10]uint64       // the set of the hashes of starts
	short   []spelling            // words of less than eight bytes
}

// startSize is how many bytes of a word are looked up.
const startSize = 8

func (w *wordFinder) add(word spelling) {
	if len(word.form) < startSize {
		w.short = append(w.short, word)
		return
	}
	var start uint64
	for i := range startSize {
		start = start>>8 | uint64(word.form[i])<<56
	}
	if w.byStart == nil {
		w.byStart = map[uint64][]spelling{}
	}
	w.byStart[start] = append(w.byStart[start], word)
	h := hashed(start)
	w.marks[h>>6] |= 1 << (h & 63)
}

// hashed is a 16-bit hash.
func hashed(start uint64) uint64 { return start * 0x9E3779B97F4A7C15 >> 48 }

// first returns the word that occurs first in text.
func (w *wordFinder) first(text string) (found spelling, ok bool) {
	for _, word := range w.short {
		if strings.Contains(text, word.form) {
			return word, true
		}
	}
	for from := 0; ; {
		at, start := candidate(text, from, &w.marks)
		if at < 0 {
			return spelling{}, false
		}
		for _, word := range w.byStart[start] {
			if strings.HasPrefix(text[at:], word.form) {
				return word, true
			}
		}
		from = at + 1
	}
}

// candidate is the next place from which eight bytes may be a word's first ones. The
// race detector would watch each byte, in a function that shares none.
//
//go:norace
func candidate(text string, from int, marks *[1 << 10]uint64) (at int, start uint64) {
	if len(text)-from < startSize {
		return -1, 0
	}
	for i := range startSize - 1 {
		start = start>>8 | uint64(text[from+i])<<56
	}
	for i := from + startSize - 1; i < len(text); i++ {
		start = start>>8 | uint64(text[i])<<56
		if h := start * 0x9E3779B97F4A7C15 >> 48; marks[h>>6]&(1<<(h&63)) != 0 {
			return i - startSize + 1, start
		}
	}
	return -1, 0
}
