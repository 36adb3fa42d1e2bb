package main

import (
	"regexp"
	"slices"
	"strings"
)

// repeat is the shell command that repeats a failure alone.
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
	return quotedAll(p.goTest(packages, more...))
}

// quotedAll is a command as the shell reads it.
func quotedAll(words []string) string {
	quotes := make([]string, len(words))
	for i, word := range words {
		quotes[i] = quoted(word)
	}
	return strings.Join(quotes, " ")
}

// withoutChoice removes the arguments that choose tests.
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

// quoted quotes a word for the shell. No word contains a quote.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + word + "'"
}
