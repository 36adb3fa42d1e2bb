package main

import (
	"regexp"
	"slices"
	"strings"
)

// repeat is the command that repeats a failure alone, as a person pastes it into a
// shell.
func (p part) repeat(o outcome) string {
	more := []string{"-count=1", "-v"}
	if o.Test != "" {
		p.args = withoutChoice(p.args)
		more = append(more, "-run", "^"+o.Test+"$")
	}
	packages := strings.Fields(p.packages)
	if name, _, _ := strings.Cut(o.Package, " "); strings.HasPrefix(name, module) {
		packages = []string{"." + strings.TrimPrefix(name, module)}
	}
	words := p.goTest(packages, more...)
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(words, " ")
}

// withoutChoice leaves out of arguments which tests they choose.
func withoutChoice(args string) string {
	words := strings.Fields(args)
	for _, flag := range []string{"-run", "-skip"} {
		if i := slices.Index(words, flag); i >= 0 {
			words = slices.Delete(words, i, i+2)
		}
	}
	return strings.Join(words, " ")
}

var plain = regexp.MustCompile(`^[-\w./=:,]+$`)

// quoted is a word as a shell takes it. None has a quote in it.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + word + "'"
}
