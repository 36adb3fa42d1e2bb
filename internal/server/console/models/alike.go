package models

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Which capabilities carry out an action, by what they are called.

const (
	alikeShown  = 3
	selectsUpTo = 60 // capabilities that a list offers; more are found by typing
)

// alike are the capabilities whose names share most words with an action's, best first.
func (d *compileData) alike(a countersign.Action) (best []web.Option) {
	words := wordsOf(a.ID + " " + a.Name)
	score := map[string]int{}
	for _, g := range d.Groups {
		for _, c := range g.Capabilities {
			_, name, _ := strings.Cut(c.Value, "/")
			for _, w := range wordsOf(name) {
				if slices.Contains(words, w) {
					score[c.Value]++
				}
			}
			if score[c.Value] > 0 {
				best = append(best, c)
			}
		}
	}
	slices.SortStableFunc(best, func(a, b web.Option) int { return cmp.Compare(score[b.Value], score[a.Value]) })
	return best[:min(len(best), alikeShown)]
}

// wordsOf are the words of a name, each once, in lower case and without the s of several.
func wordsOf(name string) (words []string) {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			r = ' '
		case unicode.IsUpper(r) && lower: // createRefund has two
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	for _, w := range strings.Fields(b.String()) {
		if w = strings.TrimSuffix(w, "s"); len(w) > 1 && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// Many reports so many capabilities that one is found by typing.
func (d *compileData) Many() bool {
	n := 0
	for _, g := range d.Groups {
		n += len(g.Capabilities)
	}
	return n > selectsUpTo
}
